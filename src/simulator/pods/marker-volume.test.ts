import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { expect, it } from 'vitest';
import { createMarkerFile } from '../../agent/marker-file.ts';
import { MarkerVolume } from './marker-volume.ts';

const OLD = { announced: 1, started: 1, starts: 1 };
const NEW = { announced: 2, started: 1, starts: 1 };

/** What is found after the agent died when this step of its second write was done. */
async function foundAfter(
  step: Parameters<MarkerVolume['at']>[0],
  unsynced: Parameters<MarkerVolume['crash']>[0],
): Promise<unknown> {
  const volume = new MarkerVolume();
  const life = new AbortController();
  const store = createMarkerFile(volume.directoryFor(life.signal), SILENT);
  await new Promise<void>((resolve) => {
    volume.at(step, 1, () => {
      life.abort();
      resolve();
    });
    void store.write(OLD).then(() => store.write(NEW));
  });
  volume.crash(unsynced);
  return createMarkerFile(volume.directoryFor(undefined), SILENT).read();
}

it.each([
  ['Created', 'Kept', OLD],
  ['Written', 'Kept', OLD],
  ['Written', 'Lost', OLD],
  ['Written', 'Torn', OLD],
  ['TextSynced', 'Torn', OLD],
  ['Renamed', 'Kept', NEW],
  ['Renamed', 'Lost', OLD],
  ['Renamed', 'Torn', NEW],
  ['Synced', 'Lost', NEW],
  ['Synced', 'Torn', NEW],
] as const)('keeps one marker after %s, what is not synced being %s', async (step, how, found) => {
  expect(await foundAfter(step, how)).toEqual(found);
});

it.each([
  ['Lost', ''],
  ['Torn', 'mar'],
] as const)('finds a text that was never synced %s', async (how, found) => {
  const volume = new MarkerVolume();
  const directory = volume.directoryFor(undefined);
  const file = await directory.create('next');
  await file.writeFile('marker');
  await directory.rename('next', 'marker.json');
  volume.crash('Kept');
  expect(volume.text).toBe('marker');
  await directory.sync();
  volume.crash(how);
  expect(volume.text).toBe(found);
});

it('knows what agents did that no marker says', async () => {
  const volume = new MarkerVolume();
  const { write } = createMarkerFile(volume.directoryFor(undefined), SILENT);
  await write(NEW);
  [volume.announced, volume.started] = [2, 1];
  expect(volume.forgotten).toBeUndefined();
  volume.started = 2;
  expect(volume.forgotten).toBe('the worker of epoch 2 has started');
  volume.announced = 3;
  expect(volume.forgotten).toBe('epoch 3 was announced');
  volume.tear(0.5);
  expect(volume.forgotten).toBeUndefined();
});
