import { expect } from 'chai';
import type { KubernetesObject } from '../../../../src/operator/kubernetes/objects.ts';
import { startReflectedApi } from '../../../support/kubernetes/reflected-api.ts';
import type { ReflectedApi } from '../../../support/kubernetes/reflected-api.ts';
import { event, object, page, refusal, stream, streamAndEnd } from '../../../support/kubernetes/scripted-api.ts';

describe('what a reflector tells', () => {
  let reflected: ReflectedApi;

  beforeEach(async () => {
    reflected = await startReflectedApi();
  });

  afterEach(() => reflected.close());

  it('tells of what is listed, then of what is watched, from there on and with bookmarks', async () => {
    const changes = [
      event('ADDED', object('b', 6)),
      event('MODIFIED', object('a', 7)),
      event('DELETED', object('b', 8)),
    ];
    await reflected.begin(stream(...changes));
    await reflected.isTold('a@4', 'b@6', 'a@7', '-default/b');
    expect(reflected.lists()).to.deep.equal([{ limit: '500', labelSelector: 'a=b' }]);
    expect(reflected.watches()).to.deep.equal([
      { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: '5', timeoutSeconds: '300', labelSelector: 'a=b' },
    ]);
    expect(reflected.restarts).to.be.empty;
  });

  it('is started once every page is told of', async () => {
    reflected.api.lists.push(
      page([object('a', 1)], 5, 'second'),
      page([object('b', 2)], 5, 'third'),
      page([object('c', 3)], 5),
    );
    await reflected.reflector.start();
    expect(reflected.told).to.deep.equal(['a@1', 'b@2', 'c@3']);
    expect(reflected.lists().map((query) => query.continue)).to.deep.equal([undefined, 'second', 'third']);
  });

  it('lists without pages where the token for the next page has expired', async () => {
    reflected.api.lists.push(page([object('a', 1), object('b', 2)], 5, 'second'));
    reflected.api.lists.push(refusal(410, 'Expired'));
    reflected.api.lists.push(page([object('a', 6), object('c', 3)], 7));
    await reflected.reflector.start();
    expect(reflected.told).to.deep.equal(['a@1', 'b@2', 'a@6', 'c@3', '-default/b']);
    expect(reflected.lists()[2]).to.deep.equal({ labelSelector: 'a=b' });
    expect(reflected.restarts).to.deep.equal(['expired']);
  });

  it('goes on at the last bookmark when the API ends the watch, without listing again', async () => {
    await reflected.begin(streamAndEnd(event('BOOKMARK', object('', 9))), stream(event('ADDED', object('b', 10))));
    await reflected.isTold('a@4', 'b@10');
    expect(reflected.lists()).to.have.length(1);
    expect(reflected.watches().map(({ resourceVersion }) => resourceVersion)).to.deep.equal(['5', '9']);
    expect(reflected.restarts).to.be.empty;
  });

  it('tells that an object is gone before it tells of another one of that name', async () => {
    await reflected.begin(refusal(410, 'Gone'), stream());
    reflected.api.lists.push(page([object('a', 8, { uid: 'another' })], 9));
    await reflected.isTold('a@4', '-default/a', 'a@8');
  });

  it('tells of nothing twice, and of nothing late', async () => {
    const changes = [
      event('MODIFIED', object('a', 6)),
      event('ADDED', object('b', 7)),
      event('MODIFIED', object('a', 7)),
      event('MODIFIED', object('b', 8)),
    ];
    await reflected.begin(stream(...changes.slice(0, 2)));
    await reflected.isTold('a@4', 'a@6', 'b@7');
    reflected.reflector.observe(object('b', 8) as KubernetesObject);
    reflected.reflector.observe(object('a', 5) as KubernetesObject);
    reflected.reflector.observe(object('never-told-of', 9) as KubernetesObject);
    reflected.reflector.observe(object('b', 9, { uid: 'another' }) as KubernetesObject);
    await reflected.isTold('a@4', 'a@6', 'b@7', 'b@8');
    for (const late of changes.slice(2)) reflected.api.open[0]?.write(late);
    await reflected.isTold('a@4', 'a@6', 'b@7', 'b@8', 'a@7');
  });

  it('takes what an API holds that was put back to an earlier state', async () => {
    await reflected.begin(stream(event('ADDED', object('b', 2))), stream());
    reflected.api.lists.push(page([object('a', 1), object('b', 2)], 3));
    await reflected.isTold('a@4', '-default/a', 'a@1', 'b@2');
    await reflected.isWatching(2);
    expect(reflected.watches()[1]?.resourceVersion).to.equal('3');
  });

  describe('a listener that throws', () => {
    it('is counted, and told of what comes next', async () => {
      reflected.onTold = () => {
        throw new Error('cannot take it');
      };
      await reflected.begin(stream(event('ADDED', object('b', 6)), event('DELETED', object('a', 7))));
      await reflected.isTold('a@4', 'b@6', '-default/a');
      expect(reflected.listenerErrors).to.equal(3);
      expect(reflected.restarts).to.be.empty;
    });
  });
});
