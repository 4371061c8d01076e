// The limit that Crab is measured against: an agent that does what a turn needs and nothing else, each thing in the
// fastest way known to us. One file without dependencies, no permissions, no session on disk, no error handling
// beyond stopping. It speaks the Anthropic wire and sends what Crab sends: system prompt, tools, whole history.
//
//   ANTHROPIC_BASE_URL=http://127.0.0.1:PORT node floor.cjs PROMPT
//
// $FLOOR_REQUEST names a JSON file whose members begin each request (model, system, tools), so that a benchmark
// can give it Crab's own.

'use strict';

const { readFileSync, writeSync } = require('node:fs');
const { Agent, request } = require('node:http');

const OPENING = {
  model: 'claude-sonnet-4-5',
  max_tokens: 16384,
  stream: true,
  system: 'You are a coding agent. Use the tools to do what the person asks, then answer in a few sentences.',
  tools: [
    {
      name: 'read',
      description: 'Read a text file.',
      input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
    {
      name: 'bash',
      description: 'Run a bash command in the working directory and return its output.',
      input_schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
    },
  ],
};

const { hostname, port } = new URL(process.env.ANTHROPIC_BASE_URL);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** The request so far, open at its end: a message is encoded once and never touched again. */
let body = Buffer.allocUnsafe(64 * 1024);
let length = 0;

function append(text) {
  const most = length + text.length * 3;
  if (most > body.length) body = Buffer.concat([body.subarray(0, length)], most * 2);
  length += body.write(text, length);
}

function ask() {
  const end = body.write(']}', length);
  const headers = {
    'content-type': 'application/json',
    'content-length': length + end,
    'anthropic-version': '2023-06-01',
    'x-api-key': process.env.ANTHROPIC_API_KEY,
  };
  const options = { agent, hostname, port, method: 'POST', path: '/v1/messages', headers };
  request(options, listen).end(body.subarray(0, length + end));
}

function listen(response) {
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  const blocks = [];
  let rest = '';
  response.setEncoding('utf8');
  response.on('data', (chunk) => {
    let said = '';
    const text = rest + chunk;
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (text.startsWith('data: ', start)) said += take(JSON.parse(text.slice(start + 6, end)), blocks);
      start = end + 1;
    }
    rest = text.slice(start);
    if (said !== '') print(said);
  });
  response.on('end', () => finish(blocks.filter(Boolean)));
}

/** Returns the text to print. */
function take(event, blocks) {
  if (event.type === 'content_block_delta') {
    const block = blocks[event.index];
    const { text, partial_json: json } = event.delta;
    if (text !== undefined) {
      block.text += text;
      return text;
    }
    if (json !== undefined) block.json += json;
  } else if (event.type === 'content_block_start') {
    blocks[event.index] = { ...event.content_block, json: '' };
  }
  return '';
}

function finish(blocks) {
  const calls = blocks.filter((block) => block.type === 'tool_use');
  for (const call of calls) call.input = JSON.parse(call.json || '{}');
  if (calls.length === 0) {
    print('\n');
    process.exit(0);
  }
  const content = blocks.map((block) =>
    block.type === 'text'
      ? { type: 'text', text: block.text }
      : { type: 'tool_use', id: block.id, name: block.name, input: block.input },
  );
  append(`,${JSON.stringify({ role: 'assistant', content })}`);
  const results = new Array(calls.length);
  let left = calls.length;
  for (const [index, call] of calls.entries()) {
    run(call, (text) => {
      results[index] = { type: 'tool_result', tool_use_id: call.id, content: [{ type: 'text', text }] };
      left--;
      if (left > 0) return;
      append(`,${JSON.stringify({ role: 'user', content: results })}`);
      ask();
    });
  }
}

function run({ name, input }, done) {
  if (name === 'read') {
    done(readFileSync(input.path, 'utf8'));
    return;
  }
  const { spawn } = require('node:child_process');
  const stdio = ['ignore', 'pipe', 'pipe'];
  const child = spawn('bash', ['--noprofile', '--norc', '-c', input.command], { stdio });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  child.on('close', () => done(output || '(no output)'));
}

/** Past the streams of Node, whose set-up costs more than a short answer. A slow reader makes it wait and try again. */
function print(text) {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(1, bytes));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

const file = process.env.FLOOR_REQUEST;
const opening = file ? readFileSync(file, 'utf8').trimEnd() : JSON.stringify(OPENING);
const prompt = { role: 'user', content: [{ type: 'text', text: process.argv[2] }] };
append(`${opening.slice(0, -1)},"messages":[${JSON.stringify(prompt)}`);
ask();
