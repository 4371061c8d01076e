// `crab daemon unit`: unit files for systemd's manager of the user, as this installation and this home need them. The program
// is named by the runtime that runs it: a launcher in between would lose the sockets that systemd hands over, which are for
// one process id alone.

import { join } from 'node:path';
import { DEFAULT_PORT } from '../hosts/daemon/listen.ts';
import { runFolder } from '../hosts/daemon/run-folder.ts';
import { crabHome, type Environment, homeFolder } from './home.ts';
import { ownCommand } from './own-command.ts';

export type UnitKind = 'service' | 'socket';

export function unitText(kind: UnitKind, env: Environment): string {
  return kind === 'service' ? service(env) : socket(env);
}

function service(env: Environment): string {
  const home = crabHome(env);
  const command = ownCommand('daemon', 'run').map(inCommand).join(' ');
  const isUsual = home === join(homeFolder(env), '.crab');
  return [
    '# ~/.config/systemd/user/crabd.service',
    '[Unit]',
    'Description=The daemon of Crab',
    '',
    '[Service]',
    'Type=notify',
    '# The word comes from systemd-notify, which is no main process.',
    'NotifyAccess=all',
    ...(isUsual ? [] : [`Environment=${inSetting(`CRAB_HOME=${home}`)}`]),
    `ExecStart=${command}`,
    'ExecReload=kill -HUP $MAINPID',
    'Restart=on-failure',
    '# Such as another daemon of this home: that does not pass by trying again.',
    'RestartPreventExitStatus=8',
    '# The runs are stopped by the daemon; what they started is ended by it, too.',
    'KillMode=mixed',
    'TimeoutStopSec=30',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

function socket(env: Environment): string {
  return [
    '# ~/.config/systemd/user/crabd.socket',
    '[Unit]',
    'Description=The socket of the daemon of Crab',
    '',
    '[Socket]',
    `ListenStream=${escaped(runFolder(crabHome(env)).socket)}`,
    'FileDescriptorName=daemon',
    'SocketMode=0600',
    'DirectoryMode=0700',
    `# The other ways in (daemon-json.sock, TCP ${DEFAULT_PORT}) are opened by the daemon when it has started.`,
    '',
    '[Install]',
    'WantedBy=sockets.target',
    '',
  ].join('\n');
}

/** `%` begins a specifier (systemd.unit(5)). */
function escaped(text: string): string {
  return text.replaceAll('%', '%%');
}

/** A word in quotes, where it needs them (systemd.syntax(7)). */
function inSetting(text: string): string {
  const plain = escaped(text);
  return /[\s"'\\]/.test(plain) ? `"${plain.replace(/["\\]/g, '\\$&')}"` : plain;
}

/** In a command `$` begins a variable as well (systemd.service(5)). */
function inCommand(text: string): string {
  return inSetting(text.replaceAll('$', '$$$$'));
}
