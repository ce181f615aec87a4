import { expect } from 'chai';
import { createChangeWatch } from '../../../../src/operator/kubernetes/change-watch.ts';
import type { WatchLoop } from '../../../../src/operator/kubernetes/watch-loop.ts';
import { createKubernetesClient } from '../../../../src/platform/kubernetes/client.ts';
import type { KubernetesClient } from '../../../../src/platform/kubernetes/client.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  event,
  object,
  page,
  refusal,
  reset,
  startScriptedApi,
  stream,
} from '../../../support/kubernetes/scripted-api.ts';
import type { ScriptedApi } from '../../../support/kubernetes/scripted-api.ts';
import { createManualClock } from '../../../support/operator/manual-clock.ts';
import type { ManualClock } from '../../../support/operator/manual-clock.ts';

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

describe('a change watch', () => {
  let api: ScriptedApi;
  let client: KubernetesClient;
  let clock: ManualClock;
  let watch: WatchLoop;
  let told: string[];
  let restarts: string[];
  let listenerErrors: number;
  let onTold: () => void;

  beforeEach(async () => {
    api = await startScriptedApi();
    client = createKubernetesClient({ kubeConfig: api.kubeConfig });
    clock = createManualClock();
    [told, restarts, listenerErrors, onTold] = [[], [], 0, () => undefined];
    const tell = (what: string): void => {
      told.push(what);
      onTold();
    };
    watch = createChangeWatch({
      client,
      at: { group: '', version: 'v1', plural: 'configmaps' },
      clock,
      random: () => 0,
      logger: silentLogger,
      onRestart: (reason) => restarts.push(reason),
      onListenerError: () => (listenerErrors += 1),
      listener: { changed: ({ namespace, name }) => tell(`${namespace}/${name}`), gap: () => tell('gap') },
    });
  });

  afterEach(async () => {
    await watch.stop();
    client.close();
    await api.close();
  });

  const isTold = (...what: string[]) => eventually(() => expect(told).to.deep.equal(what));
  const hasRestarted = (...reasons: string[]) => eventually(() => expect(restarts).to.deep.equal(reasons));

  it('asks for the metadata of one object, and tells what changes from then on', async () => {
    api.lists.push(page([object('a', 4)], 5, 'more'));
    api.watches.push(stream(event('ADDED', object('b', 6)), event('DELETED', object('a', 7))));
    await watch.start();
    await isTold('default/b', 'default/a');
    const [list, watching] = api.seen;
    expect(list?.query).to.deep.equal({ limit: '1' });
    expect(list?.headers.accept).to.equal(METADATA_LIST);
    expect(watching?.query.resourceVersion).to.equal('5');
    expect(watching?.headers.accept).to.match(/as=PartialObjectMetadata;/);
  });

  it('tells of no gap where it can go on where it was', async () => {
    api.lists.push(page([], 5));
    api.watches.push(reset, stream(event('ADDED', object('b', 6))));
    await watch.start();
    await hasRestarted('disconnected');
    await clock.advance(200);
    await isTold('default/b');
  });

  it('tells of a gap where it cannot, and then what changes after it', async () => {
    api.lists.push(page([], 5), page([object('a', 8)], 9));
    api.watches.push(refusal(410, 'Gone'), stream(event('ADDED', object('b', 10))));
    await watch.start();
    await isTold('gap', 'default/b');
  });

  it('tells of a gap where it could not begin at first', async () => {
    api.lists.push(refusal(403, 'Forbidden'), page([], 5));
    const starting = watch.start();
    await hasRestarted('forbidden');
    await clock.advance(200);
    await starting;
    expect(told).to.deep.equal(['gap']);
  });

  it('goes on where its listener throws, and counts it', async () => {
    onTold = () => {
      throw new Error('cannot take it');
    };
    api.lists.push(page([], 5));
    api.watches.push(stream(event('ADDED', object('b', 6)), event('ADDED', object('c', 7))));
    await watch.start();
    await isTold('default/b', 'default/c');
    expect(listenerErrors).to.equal(2);
    expect(restarts).to.be.empty;
  });

  it('tells nothing once it is stopped', async () => {
    api.lists.push(page([], 5));
    api.watches.push(stream(event('ADDED', object('b', 6)), event('ADDED', object('c', 7))));
    onTold = () => void watch.stop();
    await watch.start();
    await isTold('default/b');
    await watch.stop();
    await eventually(() => expect(api.open).to.be.empty);
    expect(told).to.deep.equal(['default/b']);
  });
});
