/** How the command was called: under which name, and with which words. */
import { basename } from 'node:path';

/** kubectl runs a plugin by the name of its file, and users call it by two words. */
export function commandName(script = ''): string {
  return basename(script).startsWith('kubectl-') ? 'kubectl lockstep' : 'lockstep';
}

/** A message with its commands under the name that the user knows. */
export function asCalled(message: string, name: string, commands: readonly string[]): string {
  const command = new RegExp(`(?<!kubectl )\\blockstep (?=(?:${commands.join('|')})\\b)`, 'g');
  return message.replace(command, `${name} `);
}

/** kubectl takes `-o=json` for `-ojson`; Commander would take `=json` for the value. */
export function asCommanderReads(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--');
  return words.map((word, i) => {
    const isFlag = (end === -1 || i < end) && /^-[A-Za-z]=/.test(word);
    return isFlag ? `${word.slice(0, 2)}${word.slice(3)}` : word;
  });
}
