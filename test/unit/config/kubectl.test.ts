import { expect } from 'chai';
import { readCommand } from '../../../src/config/command.ts';
import { readKubectl } from '../../../src/config/kubectl.ts';
import type { KubectlConfig } from '../../../src/config/kubectl.ts';

const ENVIRONMENT = { HOME: '/home/me' };

function configOf(argv: string[], environment: Record<string, string> = ENVIRONMENT): KubectlConfig {
  const read = readKubectl(argv, environment);
  if (read.outcome !== 'ok') throw new Error(`not a command: ${JSON.stringify(read)}`);
  return read.config;
}

function faultsOf(...argv: string[]): readonly string[] {
  const read = readKubectl(argv, ENVIRONMENT);
  return read.outcome === 'faulty' ? read.faults : [];
}

describe('arguments of kubectl tokenkeep', () => {
  it('are read as kubectl reads them, in short and in long', () => {
    expect(configOf(['status', '-n', 'shop', '-o', 'json'])).to.include({ namespace: 'shop', output: 'json' });
    expect(configOf(['status', '--namespace=shop', '-A'])).to.include({ namespace: 'shop', allNamespaces: true });
    expect(configOf(['reactor', 'logs', 'score', '-f', '--tail', '5'])).to.deep.include({
      ...{ command: 'reactor logs', names: ['score'], follow: true, tailLines: 5 },
    });
    expect(configOf(['status'])).to.include({ output: 'table', systemNamespace: 'tokenkeep-system' });
  });

  it('name kubeconfigs as kubectl finds them', () => {
    const kubeconfigsOf = (argv: string[], environment: Record<string, string>) =>
      configOf(['status', ...argv], environment).kubeconfigs;
    expect(kubeconfigsOf([], ENVIRONMENT)).to.deep.equal({ files: ['/home/me/.kube/config'], areGiven: false });
    const listed = { ...ENVIRONMENT, KUBECONFIG: '/a:/b' };
    expect(kubeconfigsOf([], listed)).to.deep.equal({ files: ['/a', '/b'], areGiven: false });
    expect(kubeconfigsOf(['--kubeconfig', '/c'], listed)).to.deep.equal({ files: ['/c'], areGiven: true });
  });

  it('hand on to the program in the pod what is its own', () => {
    const argv = ['keys', 'rotate', '--data-keys', '--if-older-than', '90d', '--context', 'west'];
    expect(configOf(argv)).to.deep.include({ passed: ['--data-keys', '--if-older-than=90d'], context: 'west' });
  });

  it('take data from a file or standard input alone, and never repeat what was given in its place', () => {
    expect(configOf(['tokenize', '--data', '@card.json']).dataFile).to.equal('card.json');
    expect(configOf(['tokenize', '--data', '-']).dataFile).to.equal(undefined);
    for (const data of ['4242424242424242', '{"card":"4242424242424242"}', '@']) {
      const faults = faultsOf('tokenize', '--data', data);
      expect(faults).to.have.length(1);
      expect(faults[0])
        .to.match(/^--data: takes @ and the name of a file/)
        .and.not.include('4242');
    }
    expect(faultsOf('tokenize', '4242424242424242')).to.deep.equal(['takes nothing but flags']);
  });

  it('take a key from the environment alone, which other commands pass over', () => {
    const environment = { ...ENVIRONMENT, TOKENKEEP_API_KEY: 'key_1' };
    expect(configOf(['tokenize'], environment).apiKey).to.equal('key_1');
    expect(faultsOf('tokenize', '--api-key', 'key_1')[0]).to.match(/^--api-key: unknown flag/);
    expect(readCommand(['status'], environment)).to.include({ action: 'run', role: 'status' });
  });

  const refused: Record<string, [string[], RegExp]> = {
    'an unknown command, with a guess': [['statu'], /^needs one of .*status\?/],
    'half a command': [['keys'], /^needs one of status/],
    'a reactor without its name': [['reactor', 'invoke'], /^needs the NAME of one resource$/],
    'two reactors': [['reactor', 'logs', 'a', 'b'], /^needs the NAME of one resource$/],
    'an unknown flag, with a guess': [
      ['status', '--al-namespaces'],
      /^--al-namespaces: unknown flag.*--all-namespaces/,
    ],
    'a flag of another command': [['status', '--follow'], /^--follow: unknown flag/],
    'a flag twice': [['status', '-n', 'a', '-n', 'b'], /^--namespace: is given twice$/],
    'a flag without its value': [['status', '--namespace'], /^--namespace: needs a value$/],
    'a value for a switch': [['status', '--all-namespaces=yes'], /^--all-namespaces: takes no value$/],
    'a namespace that is none': [['status', '-n', 'Shop'], /^--namespace: must be the name of a namespace$/],
    'an unknown format': [['status', '-o', 'xml'], /^--output: must be one of/],
    'a URL with a path': [['tokenize', '--url', 'https://api.example/v1'], /^--url: must be a scheme/],
    'an ID beside a document': [['detokenize', 'a-1', '--data', '@x'], /^--data: cannot be given together with an ID$/],
    'lines that are no number': [['reactor', 'logs', 'a', '--tail', 'all'], /^--tail: must be a number of lines$/],
  };
  for (const [what, [argv, says]] of Object.entries(refused)) {
    it(`refuses ${what}`, () => {
      const faults = faultsOf(...argv);
      expect(faults).to.have.length(1);
      expect(faults[0]).to.match(says);
    });
  }

  it('explains all commands and each', () => {
    const overall = readKubectl([], ENVIRONMENT);
    expect(overall).to.have.property('outcome', 'help');
    const one = readKubectl(['reactor', 'invoke', '-h'], ENVIRONMENT);
    expect(one).to.have.property('text').that.includes('Usage: kubectl tokenkeep reactor invoke NAME [flags]');
    expect(one).to.have.property('text').that.includes('--data @FILE');
  });
});
