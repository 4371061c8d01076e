// Follows everything that the agents of a daemon do, and asks one of them something.
//
//     npm install crab-agent
//     node client.ts ~/.crab/run/daemon.sock "What does this folder hold?"
//
// The address may also be tcp://127.0.0.1:6688 or wss://HOST, with the token in CRAB_TOKEN.

import { connect } from 'crab-agent/client';

const [address = `${process.env['HOME']}/.crab/run/daemon.sock`, question = 'Who are you?'] = process.argv.slice(2);
const token = process.env['CRAB_TOKEN'];

const crab = await connect(address, { name: 'example/1', ...(token !== undefined && { token }) });
const conversation = { agent: 'crab', sender: 'example' };

for await (const event of crab.stream({ ...conversation, content: question, cwd: process.cwd() })) {
  switch (event.case) {
    case 'chunk':
      process.stdout.write(event.value.content);
      break;
    case 'toolStart':
      for (const { name, arguments: input } of event.value.calls) console.error(`[${name} ${input}]`);
      break;
    case 'permissionRequest':
      console.error(`[refused: ${event.value.inputSummary}]`);
      await crab.replyToPermission({ ...conversation, id: event.value.id, allowed: false });
      break;
    case 'end':
      process.stdout.write('\n');
      if (event.value.error !== '') console.error(`It failed (${event.value.code}): ${event.value.error}`);
      process.exitCode = event.value.error === '' ? 0 : 1;
      break;
  }
}
for (const { agent, sender, cwd, messages } of await crab.sessions())
  console.error(`${agent}/${sender} in ${cwd}, ${messages} messages`);
crab.close();
