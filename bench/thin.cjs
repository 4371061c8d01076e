// The limit that a client of the daemon is measured against: one connection, one request, one answer, with nothing read,
// resolved or checked. It speaks the frames of docs/wire by hand.
//
//   node thin.cjs SOCKET PROMPT

'use strict';

const { connect } = require('node:net');
const { writeSync } = require('node:fs');

const [path, prompt] = process.argv.slice(2);

function field(number, value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

function varint(value) {
  const bytes = [];
  for (; value > 0x7f; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  return Buffer.from([...bytes, value]);
}

// ClientMessage.send { agent, content, sender }
const sender = `thin-${process.pid}`;
const message = field(
  1,
  Buffer.concat([field(1, 'crab'), field(2, prompt), field(4, sender), field(5, process.cwd())]),
);
const head = Buffer.alloc(4);
head.writeUInt32BE(message.length);

let heard = Buffer.alloc(0);
const socket = connect(path, () => socket.write(Buffer.concat([head, message])));
socket.on('data', (bytes) => {
  heard = Buffer.concat([heard, bytes]);
  if (heard.length < 4 || heard.length < 4 + heard.readUInt32BE(0)) return;
  // ServerMessage.response { agent, content, … }: the texts are short, so that each length is one byte.
  let at = 4;
  if (heard[at] !== 0x0a) throw new Error(`answered with ${heard.toString('latin1')}`);
  while (heard[at] & 0x80 || at === 4) at++;
  at = heard.indexOf(0x0a, at + 1);
  at += 2 + heard[at + 1];
  writeSync(1, `${heard.toString('utf8', at + 2, at + 2 + heard[at + 1])}\n`);
  process.exit(0);
});
