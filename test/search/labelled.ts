// Sessions as people have them, and queries labelled with the session that each is after. Four of the sessions are about
// nothing that is looked for: they are reviews and logs that mention everything in passing.

import type { SpokenRole } from '../../src/core/search.ts';

export interface LabelledSession {
  readonly title?: string;
  readonly summary?: string;
  readonly said: readonly (readonly [SpokenRole, string])[];
}

export const SESSIONS: Readonly<Record<string, LabelledSession>> = {
  'rate-limit': {
    title: 'Retry after rate limits',
    said: [
      ['user', 'The provider answers 429 when we send too fast. Can we wait as long as retry-after says?'],
      ['assistant', 'The client now honours the header and adds jitter between attempts.'],
    ],
  },
  'flaky-clock': {
    title: 'Flaky clock test',
    said: [
      ['user', 'scheduler.test.ts fails once in twenty runs on CI, never here.'],
      ['tool', 'AssertionError: expected 100 to be at least 101\n    at scheduler.test.ts:48'],
      ['assistant', 'The test compared two wall-clock readings. It uses a virtual clock from here on.'],
    ],
  },
  'csv-export': {
    summary:
      'Added an export of invoices as CSV, with quoting as in RFC 4180 and a byte order mark for Excel.',
    said: [
      ['user', 'Accounting wants the invoices as a spreadsheet.'],
      ['assistant', 'I wrote exportInvoices and a download button.'],
      ['tool', 'ok 14 tests'],
    ],
  },
  'dark-mode': {
    title: 'Dark mode colours',
    said: [
      ['user', 'The contrast of links in dark mode is too low.'],
      ['assistant', 'Links are #8ab4f8 on dark backgrounds, a ratio of 7.4.'],
    ],
  },
  'pg-upgrade': {
    title: 'Upgrade Postgres 15 to 17',
    summary: 'Moved the database to Postgres 17 with pg_upgrade and link mode; extensions were rebuilt.',
    said: [
      ['user', 'How do we upgrade with the least downtime?'],
      ['tool', 'Performing Consistency Checks ... ok'],
      ['assistant', 'The cluster runs on the new version; the old data folder can go.'],
    ],
  },
  'websocket-leak': {
    title: 'Memory leak in the websocket server',
    said: [
      ['user', 'Heap grows by 40 MB an hour. Connections that close leave their listeners behind.'],
      ['tool', 'MaxListenersExceededWarning: possible EventEmitter leak'],
      ['assistant', 'The close handler removes the ping timer and the listeners.'],
    ],
  },
  'unicode-names': {
    said: [
      ['user', 'Usernames like Zoë and Łukasz are refused at signup, the regex allows ASCII only.'],
      ['assistant', 'It accepts any letter by \\p{L} and compares normalised names.'],
    ],
  },
  'docker-size': {
    title: 'Smaller Docker image',
    said: [
      ['user', 'Our image has 1.4 GB. Make the container slim.'],
      ['assistant', 'A multi-stage build on alpine brings it to 120 MB.'],
      ['tool', 'naming to docker.io/library/shop:latest done'],
    ],
  },
  'i18n-japanese': {
    title: '日本語の翻訳',
    said: [
      ['user', 'ログイン画面を日本語に翻訳してください。'],
      ['assistant', '翻訳ファイルを追加しました。ボタンの文言も直しました。'],
    ],
  },
  'search-chinese': {
    said: [
      ['user', '全文搜索找不到中文文档，怎么办？'],
      ['assistant', '分词器按两个字切分，索引重建之后就能找到了。'],
    ],
  },
  'parse-http-url': {
    said: [
      ['user', 'parseHttpUrl drops the port when the host is an IPv6 address.'],
      ['assistant', 'The bracket was taken for the end of the authority; fixed in parseAuthority.'],
    ],
  },
  'max-retry': {
    said: [
      ['user', 'Where is MAX_RETRY_COUNT read? The variable seems to have no effect.'],
      ['assistant', 'It was read before the .env file was loaded.'],
    ],
  },
  'git-bisect': {
    title: 'Bisect the broken build',
    said: [
      ['user', 'The build broke somewhere in the last 60 commits. Find the guilty one with git bisect.'],
      ['tool', 'a1b2c3d is the first bad commit'],
      ['assistant', 'The commit a1b2c3d renamed a type and forgot one import.'],
    ],
  },
  'oauth-login': {
    summary: 'Sign-in with GitHub by OAuth with PKCE; refresh tokens are kept in the keychain.',
    said: [
      ['user', 'People should not need a password of ours any more.'],
      ['assistant', 'The callback checks state and exchanges the code.'],
    ],
  },
  'image-resize': {
    title: 'Thumbnails',
    said: [
      ['user', 'Uploads of 40 megapixels take the server down while they are resized.'],
      ['assistant', 'Resizing happens in a worker with a queue; thumbnails are made once.'],
    ],
  },
  'cron-dst': {
    title: 'Cron jobs and daylight saving',
    said: [
      ['user', 'The nightly report ran twice last Sunday, when the clocks went back.'],
      ['assistant', 'Schedules are kept in UTC and shown in local time.'],
    ],
  },
  'graphql-n1': {
    title: 'GraphQL resolver makes N+1 queries',
    said: [
      ['user', 'Loading the orders page fires 300 queries.'],
      ['assistant', 'A dataloader batches them: 3 queries remain.'],
    ],
  },
  'stripe-webhook': {
    title: 'Stripe webhook signature',
    said: [
      ['user', 'Payments arrive but the webhook answers 400: signature mismatch.'],
      ['assistant', 'The body was parsed before it was verified; the raw bytes are signed.'],
    ],
  },
  'rust-lifetimes': {
    title: 'Borrow checker in the lexer',
    said: [
      ['user', 'error[E0502]: cannot borrow tokens as mutable in lexer.rs'],
      ['assistant', 'The slice holds indexes in place of references.'],
    ],
  },
  accessibility: {
    title: 'Keyboard focus in dialogs',
    said: [
      ['user', 'With a screen reader the dialog cannot be left; focus goes behind it.'],
      ['assistant', 'Focus is trapped inside and returns to the button at the end.'],
    ],
  },
  'terraform-state': {
    summary: 'Moved the Terraform state to a bucket with locking, and imported the hand-made load balancer.',
    said: [
      ['user', 'Two of us applied at once and broke staging.'],
      ['assistant', 'State has a lock; the second apply waits.'],
    ],
  },
  'regex-redos': {
    title: 'Slow regular expression',
    said: [
      ['user', 'Validating an email of 50 letters takes a minute: catastrophic backtracking.'],
      ['assistant', 'The nested quantifier is gone; it is linear.'],
    ],
  },
  'kafka-lag': {
    title: 'Consumer lag',
    said: [
      ['user', 'Kafka consumers fall behind every morning, lag is at two million.'],
      ['assistant', 'Partitions went from 6 to 24 and commits are batched.'],
    ],
  },
  'vim-plugin': {
    said: [
      ['user', 'Write a vim plugin that opens the test beside a file.'],
      ['assistant', 'Map <leader>t to OpenTest; it swaps src and test in the path.'],
    ],
  },
  'release-notes': {
    title: 'Release notes 3.2',
    said: [
      ['user', 'Draft the release notes from the merged pull requests since v3.1.'],
      ['assistant', 'Highlights: faster startup, a new importer, 14 fixes.'],
    ],
  },
  'ssl-expiry': {
    title: 'Certificate expired',
    said: [
      ['user', 'The site shows a TLS warning since midnight.'],
      ['tool', 'notAfter=Mar  3 23:59:59 2026 GMT'],
      ['assistant', 'The renewal hook did not reload nginx; it does now.'],
    ],
  },
  ...passing(),
};

/** What is mentioned in passing, many times over: short results of tools, and an assistant's lists. */
function passing(): Record<string, LabelledSession> {
  const lines = [
    'retry rate limits retry limits',
    'flaky clock clock test',
    'invoices csv csv export',
    'dark mode contrast dark mode',
    'upgrade postgres postgres downtime',
    'websocket leak websocket memory leak',
    'docker image docker container slim image',
    'build bisect broken build commits',
    'oauth github oauth sign keychain',
    'thumbnails resize thumbnails uploads',
    'cron daylight cron saving report',
    'graphql resolver queries graphql orders',
    'stripe webhook signature stripe payments',
    'borrow checker lexer borrow lexer',
    'dialog focus keyboard focus dialog',
    'terraform state lock terraform state staging',
    'slow regular expression regular expression',
    'kafka lag consumer lag kafka',
    'release notes release notes',
    'certificate expired tls certificate nginx',
  ];
  const roles = ['tool', 'tool', 'assistant', 'tool'] as const;
  return Object.fromEntries(
    roles.map((role, number) => [
      `passing-${number}`,
      { said: [['user', 'Go on.'], ...lines.map((line) => [role, `${line} ${number}`] as const)] },
    ]),
  );
}

/** A query, and the session that it is after. */
export const QUERIES: readonly (readonly [string, string])[] = [
  ['retry rate limits', 'rate-limit'],
  ['429 retry-after', 'rate-limit'],
  ['jitter between attempts', 'rate-limit'],
  ['flaky clock test', 'flaky-clock'],
  ['scheduler.test.ts fails', 'flaky-clock'],
  ['invoices csv export', 'csv-export'],
  ['csv', 'csv-export'],
  ['rfc 4180 quoting', 'csv-export'],
  ['exportInvoices', 'csv-export'],
  ['dark mode', 'dark-mode'],
  ['contrast links', 'dark-mode'],
  ['upgrade postgres', 'pg-upgrade'],
  ['postgres', 'pg-upgrade'],
  ['pg_upgrade', 'pg-upgrade'],
  ['websocket memory leak', 'websocket-leak'],
  ['MaxListenersExceededWarning', 'websocket-leak'],
  ['heap grows', 'websocket-leak'],
  ['zoe username', 'unicode-names'],
  ['lukasz signup', 'unicode-names'],
  ['docker image', 'docker-size'],
  ['slim container', 'docker-size'],
  ['alpine multi-stage', 'docker-size'],
  ['日本語', 'i18n-japanese'],
  ['ログイン', 'i18n-japanese'],
  ['翻訳', 'i18n-japanese'],
  ['全文搜索', 'search-chinese'],
  ['中文', 'search-chinese'],
  ['parseHttpUrl', 'parse-http-url'],
  ['http url ipv6', 'parse-http-url'],
  ['parseAuthority', 'parse-http-url'],
  ['MAX_RETRY_COUNT', 'max-retry'],
  ['max retry count variable', 'max-retry'],
  ['bisect broken build', 'git-bisect'],
  ['a1b2c3d', 'git-bisect'],
  ['oauth github', 'oauth-login'],
  ['pkce refresh tokens', 'oauth-login'],
  ['keychain', 'oauth-login'],
  ['thumbnails', 'image-resize'],
  ['megapixels', 'image-resize'],
  ['cron daylight saving', 'cron-dst'],
  ['nightly report twice', 'cron-dst'],
  ['graphql queries', 'graphql-n1'],
  ['dataloader', 'graphql-n1'],
  ['stripe webhook signature', 'stripe-webhook'],
  ['payments webhook', 'stripe-webhook'],
  ['borrow checker lexer', 'rust-lifetimes'],
  ['E0502', 'rust-lifetimes'],
  ['dialog keyboard focus', 'accessibility'],
  ['screen reader', 'accessibility'],
  ['terraform state', 'terraform-state'],
  ['load balancer', 'terraform-state'],
  ['slow regular expression', 'regex-redos'],
  ['catastrophic backtracking', 'regex-redos'],
  ['kafka lag', 'kafka-lag'],
  ['vim plugin', 'vim-plugin'],
  ['release notes', 'release-notes'],
  ['certificate expired', 'ssl-expiry'],
  ['tls warning nginx', 'ssl-expiry'],
];
