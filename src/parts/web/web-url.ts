// What counts as a URL of the web, apart from where it leads: that is the guard's. Every call is planned with this, so it
// needs nothing of Node.

import { ToolFailure } from '../../core/errors.ts';

/** Ports of services that read anything as commands, as browsers refuse them (fetch.spec.whatwg.org/#port-blocking). */
const BAD_PORTS = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 ' +
    '135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 ' +
    '995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 10080 11211'
  )
    .split(' ')
    .map(Number),
);

/** Throws `ToolFailure` for what is no plain URL of the web. */
export function checkedUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new ToolFailure(`Not a URL: ${JSON.stringify(text.slice(0, 200))}.`);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new ToolFailure(`Only http: and https: can be reached, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '')
    throw new ToolFailure(`A URL with a name or a password in it is not sent anywhere (${url.host}).`);
  if (BAD_PORTS.has(portOf(url)))
    throw new ToolFailure(`Port ${portOf(url)} of ${url.hostname} belongs to no web server.`);
  return url;
}

export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
