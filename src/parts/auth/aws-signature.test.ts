import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import { type AwsKeys, signedHeaders } from './aws-signature.ts';

const KEYS: AwsKeys = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const NOW = Date.UTC(2015, 7, 30, 12, 36, 0);
const SCOPE = { region: 'us-east-1', service: 'service', now: NOW };

// The suite that AWS publishes (aws-c-auth, tests/aws-signing-test-suite/v4).
for (const [name, method, path, signature] of [
  ['get-vanilla', 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '/?Param2=value2&Param1=value1',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  ['post-vanilla', 'POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
] as const) {
  test(`the published vector ${name}`, () => {
    const headers = signedHeaders(
      { method, url: new URL(`https://example.amazonaws.com${path}`) },
      KEYS,
      SCOPE,
    );
    assert.deepEqual(headers, {
      'x-amz-date': '20150830T123600Z',
      authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    });
  });
}

/** AWS's own signer, told to sign the same headers. */
async function judged(method: string, url: URL, body: string, keys: AwsKeys): Promise<string | undefined> {
  const signer = new SignatureV4({
    credentials: keys,
    region: SCOPE.region,
    service: 'bedrock',
    sha256: Sha256,
    applyChecksum: false,
  });
  const signed = await signer.sign(
    {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { host: url.host },
      body,
    },
    { signingDate: new Date(NOW) },
  );
  return signed.headers['authorization'];
}

test('AWS’s own signer says the same of paths, queries, bodies and session tokens', async () => {
  const models = [
    'anthropic.claude-v2',
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.a',
    "it's (a) *model*!",
    'ü/日本',
  ];
  let checked = 0;
  for (const model of models)
    for (const query of ['', '?b=2&a=1&a b=c%2Fd', "?x=it's~"])
      for (const body of ['', '{"messages":["ü"]}'])
        for (const keys of [KEYS, { ...KEYS, sessionToken: 'AQoDYXdzEPT//////////wEXAMPLE==' }]) {
          const url = new URL(`http://127.0.0.1:4566/model/${encodeURIComponent(model)}/invoke${query}`);
          const pieces = [body.slice(0, 5), body.slice(5)].map((piece) => Buffer.from(piece));
          const request = { method: 'POST', url, body: pieces };
          const headers = signedHeaders(request, keys, { ...SCOPE, service: 'bedrock' });
          assert.equal(headers['authorization'], await judged('POST', url, body, keys), url.href);
          checked++;
        }
  assert.equal(checked, 60);
});
