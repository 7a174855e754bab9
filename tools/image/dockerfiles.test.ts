import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { IMAGE_NAMES, startOf } from './images.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Instructions of each stage, in order. */
function stagesOf(path: string): readonly (readonly string[])[] {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
  const instructions = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const stages: string[][] = [];
  for (const instruction of instructions) {
    if (instruction.startsWith('FROM ')) stages.push([]);
    stages.at(-1)?.push(instruction);
  }
  return stages;
}

describe.each(IMAGE_NAMES)('the Dockerfile of the %s', (name) => {
  const [build = [], image = []] = stagesOf(`deploy/docker/${name}.Dockerfile`);

  it('makes an image that starts like the images of the archives, with nothing else in it', () => {
    const { entrypoint, env, user } = startOf(name);
    expect(image).toEqual([
      'FROM scratch',
      'COPY --from=build /image /',
      `ENV ${env.join(' ')}`,
      `USER ${user}`,
      `ENTRYPOINT ${JSON.stringify(entrypoint)}`,
    ]);
  });

  it('takes what it builds from this repository, and nothing that is kept from it', () => {
    const sources = build
      .filter((line) => line.startsWith('COPY '))
      .flatMap((line) => line.split(' ').slice(1, -1));
    const sent = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    expect(sources).toContain('src');
    for (const source of sources) {
      expect(existsSync(join(ROOT, source)), source).toBe(true);
      expect(sent).toContain(`!${source}`);
    }
    expect(build.at(-1)).toBe(`RUN npx tsx tools/image/main.ts --root ${name} /image`);
  });
});
