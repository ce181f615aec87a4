import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { generateWebhookSecret, webhookHeaders } from '../../../src/domain/webhook-signature.ts';

const message = () => ({ id: 'd2cbc1b4-5c3a-45a3-9ee2-392a1c475ab4', sentAt: Date.now(), body: '{"a":"é😀"}' });

describe('the signature of a callback', () => {
  it('is what an independent implementation makes', () => {
    const [secret, { id, sentAt, body }] = [generateWebhookSecret(), message()];
    const { 'webhook-signature': signature } = webhookHeaders({ id, sentAt, body }, [secret]);
    expect(signature).to.equal(new Webhook(secret).sign(id, new Date(sentAt), body));
  });

  it('is the known one of a known secret', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const sent = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', sentAt: 1_614_265_330_999, body: '{"test": 2432232314}' };
    expect(webhookHeaders(sent, [secret])).to.deep.equal({
      'webhook-id': sent.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('is verified by each secret that it was made with, and by no other', () => {
    const [one, two, three] = [generateWebhookSecret(), generateWebhookSecret(), generateWebhookSecret()];
    const sent = message();
    const headers = webhookHeaders(sent, [one, two]);
    for (const secret of [one, two]) expect(new Webhook(secret).verify(sent.body, headers)).to.deep.equal({ a: 'é😀' });
    expect(() => new Webhook(three).verify(sent.body, headers)).to.throw('No matching signature');
  });

  it('holds for its id, time and body alone', () => {
    const [secret, sent] = [generateWebhookSecret(), message()];
    const headers = webhookHeaders(sent, [secret]);
    const later = String(Number(headers['webhook-timestamp']) + 1);
    const verify = (changed: object, body = sent.body) => new Webhook(secret).verify(body, { ...headers, ...changed });
    expect(() => verify({ 'webhook-id': 'other' })).to.throw('No matching signature');
    expect(() => verify({ 'webhook-timestamp': later })).to.throw('No matching signature');
    expect(() => verify({}, sent.body.replace('a', 'b'))).to.throw('No matching signature');
    expect(verify({})).to.deep.equal({ a: 'é😀' });
  });

  it('is made with 256 random bits', () => {
    const secrets = Array.from({ length: 100 }, generateWebhookSecret);
    expect(new Set(secrets).size).to.equal(100);
    for (const secret of secrets) expect(Buffer.from(secret.slice(6), 'base64')).to.have.length(32);
  });
});
