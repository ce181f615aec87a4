import { gives, refuses } from './examples.ts';

describe('base64_url_safe_encode, base64_url_safe_decode', () => {
  gives([
    ['base64_url_safe_encode', 'a?b>c', 'YT9iPmM='],
    ['base64_url_safe_encode', '??>>', 'Pz8-Pg=='],
    ['base64_url_safe_encode', '~~~???', 'fn5-Pz8_'],
    ['base64_url_safe_decode', 'fn5-Pz8_', '~~~???'],
    ['base64_url_safe_decode', 'Pz8-Pg==', '??>>'],
    ['base64_url_safe_decode', 'Pz8-Pg', '??>>'],
    ['base64_url_safe_encode | base64_url_safe_decode', 'é 🦊', 'é 🦊'],
    ['base64_url_safe_encode', '', ''],
    ['base64_url_safe_decode', null, null],
  ]);
  refuses([
    ['base64_url_safe_decode', 'fn5+Pz8/', 'filter base64_url_safe_decode: takes Base64 in the alphabet of URLs'],
    ['base64_url_safe_decode', 'a', 'filter base64_url_safe_decode: takes Base64 in the alphabet of URLs'],
    ['base64_url_safe_decode', '__79', 'filter base64_url_safe_decode: takes the Base64 of text alone'],
    ['base64_url_safe_encode', [1], 'filter base64_url_safe_encode: takes text or a number'],
  ]);
});
