import type { Json } from '../../src/domain/json.ts';
import type { TokenTypeName } from '../../src/domain/token-types.ts';

/** Sound data of every token type, with what a mask may show of it and where it is kept. */
export const SAMPLES: Record<TokenTypeName, { data: Json; masked?: Json; container: string; fingerprinted: string }> = {
  token: { data: { note: 'a secret' }, container: '/general/high/', fingerprinted: '{{ data | stringify }}' },
  card: {
    data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '987' },
    masked: { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 },
    container: '/pci/high/',
    fingerprinted: '{{ data.number }}',
  },
  bank: {
    data: { routing_number: '021000021', account_number: '00123456789' },
    masked: { routing_number: '021000021', account_number: 'XXXXXXX6789' },
    container: '/bank/high/',
    fingerprinted: '{{ data.account_number }}|{{ data.routing_number }}',
  },
  card_number: {
    data: '5555555555554444',
    masked: 'XXXXXXXXXXXX4444',
    container: '/pci/high/',
    fingerprinted: '{{ data }}',
  },
  us_bank_account_number: {
    data: '0987654321',
    masked: 'XXXXXX4321',
    container: '/bank/high/',
    fingerprinted: '{{ data }}',
  },
  us_bank_routing_number: {
    data: '021000021',
    masked: 'XXXXX0021',
    container: '/bank/low/',
    fingerprinted: '{{ data }}',
  },
  social_security_number: {
    data: '123-45-6789',
    masked: 'XXX-XX-6789',
    container: '/pii/high/',
    fingerprinted: "{{ data | remove: '-' }}",
  },
  employer_id_number: {
    data: '12-3456789',
    masked: 'XX-XXX6789',
    container: '/pii/high/',
    fingerprinted: "{{ data | remove: '-' }}",
  },
};
