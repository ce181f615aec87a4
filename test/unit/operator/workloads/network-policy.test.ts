import { BlockList, isIPv6 } from 'node:net';
import { expect } from 'chai';
import { buildCheckerPolicy, buildNetworkPolicy } from '../../../../src/operator/workloads/network-policy.ts';
import { ADDRESSES } from '../../../support/egress/addresses.ts';
import { workloadWith } from '../../../support/operator/reactor-cluster.ts';

const API = { namespace: 'vault', labels: { app: 'api' }, port: 8080 };

interface Rule {
  to: { ipBlock?: { cidr: string; except?: string[] }; namespaceSelector?: object; podSelector?: object }[];
  ports: { protocol: string; port: number }[];
}

function rulesWith(allow?: string[]): Rule[] {
  const workload = workloadWith(allow === undefined ? {} : { egress: { allow } });
  return (buildNetworkPolicy(workload, API)['spec'] as { egress: Rule[] }).egress;
}

function includes(cidr: string, address: string): boolean {
  const [network = '', prefix] = cidr.split('/');
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), isIPv6(network) ? 'ipv6' : 'ipv4');
  return isIPv6(network) === isIPv6(address) && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** As a network plugin judges. */
function reaches(rules: readonly Rule[], address: string, port: number, protocol = 'TCP'): boolean {
  return rules.some(
    ({ to, ports }) =>
      ports.some((each) => each.port === port && each.protocol === protocol) &&
      to.some(
        ({ ipBlock }) =>
          ipBlock !== undefined &&
          includes(ipBlock.cidr, address) &&
          !(ipBlock.except ?? []).some((except) => includes(except, address)),
      ),
  );
}

describe('the network policy of a reactor', () => {
  it('lets those in to metrics that it is told of, and nobody else', () => {
    const ingressOf = (metricsNamespaces?: string[]) =>
      (buildNetworkPolicy(workloadWith({}), { ...API, metricsNamespaces })['spec'] as { ingress: object[] }).ingress;
    const namespace = (name: string) => ({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    });
    expect(ingressOf(['monitoring', 'ops']).slice(1)).to.deep.equal([
      { from: [namespace('monitoring'), namespace('ops')], ports: [{ protocol: 'TCP', port: 8081 }] },
    ]);
    expect(ingressOf([])).to.have.length(1);
    expect(ingressOf()).to.have.length(1);
  });

  it('is all of this, for the pods of this reactor alone', () => {
    const workload = workloadWith({ egress: { allow: ['api.example.com', '10.1.2.3:5432'] } });
    const policy = buildNetworkPolicy(workload, API);
    const selector = {
      'app.kubernetes.io/name': 'tokenkeep-reactor',
      'tokenkeep.dev/tenant-id': workload.tenantId,
      'tokenkeep.dev/reactor-id': workload.reactorId,
    };
    const api = {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'vault' } },
      podSelector: { matchLabels: { app: 'api' } },
    };
    expect(policy.metadata.labels).to.deep.equal({ ...selector, 'app.kubernetes.io/managed-by': 'tokenkeep' });
    expect(policy['spec']).to.deep.equal({
      podSelector: { matchLabels: selector },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: [api], ports: [{ protocol: 'TCP', port: 8443 }] }],
      egress: [
        {
          to: [
            { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } },
            { ipBlock: { cidr: '169.254.20.10/32' } },
          ],
          ports: [
            { protocol: 'UDP', port: 53 },
            { protocol: 'TCP', port: 53 },
          ],
        },
        { to: [api], ports: [{ protocol: 'TCP', port: 8080 }] },
        {
          to: [
            {
              ipBlock: {
                cidr: '0.0.0.0/0',
                except: [
                  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '255.255.255.255/32'],
                  ...['100.100.100.200/32', '168.63.129.16/32'],
                ],
              },
            },
            { ipBlock: { cidr: '2000::/3', except: ['2001::/32', '2002::/16'] } },
            { ipBlock: { cidr: 'fc00::/7', except: ['fd00:ec2::/32', 'fd20:ce::/32'] } },
            {
              ipBlock: {
                cidr: '64:ff9b::/96',
                except: [
                  ...['64:ff9b::/104', '64:ff9b::7f00:0/104', '64:ff9b::a9fe:0/112', '64:ff9b::e000:0/100'],
                  ...['64:ff9b::ffff:ffff/128', '64:ff9b::6464:64c8/128', '64:ff9b::a83f:8110/128'],
                ],
              },
            },
          ],
          ports: [{ protocol: 'TCP', port: 443 }],
        },
        { to: [{ ipBlock: { cidr: '10.1.2.3/32' } }], ports: [{ protocol: 'TCP', port: 5432 }] },
      ],
    });
  });

  it('without a list leaves https to what is public', () => {
    const rules = rulesWith();
    for (const [reach, addresses] of Object.entries(ADDRESSES)) {
      for (const address of addresses) {
        expect(reaches(rules, address, 443), address).to.equal(reach === 'public');
        expect(reaches(rules, address, 80), address).to.equal(false);
      }
    }
  });

  it('with a list of names leaves their ports, to what the supervisor lets through by name', () => {
    const rules = rulesWith(['db.internal:5432']);
    for (const [reach, addresses] of Object.entries(ADDRESSES)) {
      for (const address of addresses) {
        expect(reaches(rules, address, 5432), address).to.equal(reach !== 'never');
        expect(reaches(rules, address, 443), address).to.equal(false);
      }
    }
  });

  for (const allow of [undefined, ['db.internal:5432']]) {
    it(`${allow ? 'with' : 'without'} a list has exceptions that lie within their blocks, as the API server wants`, () => {
      const blocks = rulesWith(allow).flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
      for (const { cidr, except = [] } of blocks) {
        for (const each of except) {
          expect(includes(cidr, each.split('/')[0]!), each).to.equal(true);
          expect(Number(each.split('/')[1]), each).to.be.above(Number(cidr.split('/')[1]));
        }
      }
    });
  }

  it('with a list of addresses leaves these alone, and with an empty one nothing', () => {
    const rules = rulesWith(['203.0.113.7:8443', '[2001:db8::7]:8443']);
    expect(reaches(rules, '203.0.113.7', 8443)).to.equal(true);
    expect(reaches(rules, '2001:db8::7', 8443)).to.equal(true);
    expect(reaches(rules, '203.0.113.8', 8443)).to.equal(false);
    expect(rulesWith([])).to.have.length(2);
  });

  it('of what checks code leaves nothing', () => {
    expect(buildCheckerPolicy(API)['spec']).to.deep.include({ egress: [], policyTypes: ['Ingress', 'Egress'] });
  });
});
