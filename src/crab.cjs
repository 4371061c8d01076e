#!/usr/bin/env node
'use strict';

// The `crab` command. Its syntax is that of Node 12, so that whoever has an old Node gets one clear sentence
// instead of a syntax error. It answers nothing itself: it finds a Node that can run Crab, turns on the
// compile cache where that pays, and hands over to the bundle beside it.

const fs = require('fs');
const path = require('path');

const OLDEST = [22, 18];

function isRecentEnough(version) {
  const parts = version.split('.').map(Number);
  return parts[0] > OLDEST[0] || (parts[0] === OLDEST[0] && parts[1] >= OLDEST[1]);
}

/** A newer Node that this package brought along, or that stands further down the PATH. */
function findNode() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  try {
    const manifest = require.resolve(`node-${process.platform}-${process.arch}/package.json`);
    const brought = path.join(path.dirname(manifest), 'bin', name);
    if (isRecentEnough(require(manifest).version) && fs.existsSync(brought)) return brought;
  } catch (_) {
    // Not installed: that package is optional.
  }
  const folders = (process.env.PATH || '').split(path.delimiter).filter(path.isAbsolute);
  return folders.map((folder) => path.join(folder, name)).find(isUsable);
}

function isUsable(node) {
  if (node === process.execPath || !fs.existsSync(node)) return false;
  const options = { encoding: 'utf8', timeout: 5000, stdio: ['ignore', 'pipe', 'ignore'] };
  const answer = require('child_process').spawnSync(node, ['--version'], options);
  return answer.status === 0 && isRecentEnough(answer.stdout.trim().replace(/^v/, ''));
}

/** Runs Crab under another Node and ends the way it ended. */
function runUnder(node) {
  const child = require('child_process').spawn(node, [__filename].concat(process.argv.slice(2)), {
    stdio: 'inherit',
  });
  const atTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both of us, and a second one would mean "at once".
      if (signal !== 'SIGINT' || !atTerminal) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    process.stderr.write(`crab: cannot start ${node}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/**
 * Keeps compiled code below the home folder (law 12), which takes 20 % off a run. Only where that folder
 * exists and is this user's own: code is loaded from there, and `crab --version` must leave no trace.
 */
function enableCompileCache() {
  const enable = require('module').enableCompileCache;
  const home = process.env.CRAB_HOME || path.join(require('os').homedir(), '.crab');
  if (enable === undefined || !path.isAbsolute(home)) return;
  let found;
  try {
    found = fs.statSync(home);
  } catch (_) {
    return;
  }
  if (!found.isDirectory() || (process.getuid !== undefined && found.uid !== process.getuid())) return;
  enable(path.join(home, 'cache', 'compile'));
}

/**
 * A daemon lives for days and rests most of the time: it shall hold what it needs and not what it once needed, for which V8
 * collects sooner. Before the compile cache is turned on, which keeps code apart by these flags.
 */
function favourMemory() {
  const v8 = require('v8');
  v8.setFlagsFromString('--semi-space-growth-factor=1');
  v8.setFlagsFromString('--heap-growing-percent=50');
}

/**
 * The modules of Crab are named by their content and loaded when they are needed. When one is gone, another version has taken
 * the place of the one that runs.
 */
function tellOfUpdates() {
  const Module = require('module');
  const find = Module._resolveFilename;
  Module._resolveFilename = (request, parent, ...rest) => {
    try {
      return find.call(Module, request, parent, ...rest);
    } catch (error) {
      const isOwn = /^\.\//.test(request) && parent && path.dirname(parent.filename) === __dirname;
      if (!isOwn || error.code !== 'MODULE_NOT_FOUND') throw error;
      const text =
        'Crab was updated while it ran, and this process is still the old one: start it again (a daemon: `crab daemon stop`).';
      throw Object.assign(new Error(text), { code: 'program-updated', stack: text });
    }
  };
}

function isDaemon(args) {
  return args[0] === 'serve' || (args[0] === 'daemon' && args[1] === 'run');
}

function isQuickAnswer(argument) {
  return /^(--version|--help|-v|-h)$/.test(argument);
}

function main() {
  if (isRecentEnough(process.versions.node)) {
    if (isDaemon(process.argv.slice(2))) favourMemory();
    if (!isQuickAnswer(process.argv[2])) enableCompileCache();
    tellOfUpdates();
    require('./main.js');
    return;
  }
  const node = findNode();
  if (node !== undefined) {
    runUnder(node);
    return;
  }
  const needed = `Node ${OLDEST.join('.')} or newer`;
  process.stderr.write(`crab: needs ${needed}, and this is Node ${process.versions.node}\n`);
  process.exitCode = 1;
}

main();
