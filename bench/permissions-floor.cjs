// The least that a program can do which judges command lines: it starts, loads the grammar of bash, and answers each
// line with one. What Crab takes beyond it is what it thinks.

const { readFileSync } = require('node:fs');
const { dirname } = require('node:path');

async function main() {
  const { Language, Parser } = require('web-tree-sitter');
  await Parser.init();
  const folder = dirname(require.resolve('tree-sitter-bash/package.json'));
  const parser = new Parser();
  parser.setLanguage(await Language.load(readFileSync(`${folder}/tree-sitter-bash.wasm`)));
  const answers = readFileSync(0, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const tree = parser.parse(JSON.parse(line).cmd);
      const answer = JSON.stringify({ verdict: tree.rootNode.hasError ? 'ask' : 'allow' });
      tree.delete();
      return `${answer}\n`;
    });
  process.stdout.write(answers.join(''));
}

main();
