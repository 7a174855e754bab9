import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import { resource } from '@lockstep/kube/resource.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kindSchema } from '../kind-schemas/kind-definitions.ts';
import { decodeObject, openEnvelope } from './decode.ts';
import { WireError } from './wire.ts';

interface Recorded {
  readonly kind: string;
  /** In base64. */
  readonly message: string;
  readonly object: KubeObject;
}

/** Random objects, written by Kubernetes' own encoders of protocol buffers and of JSON. */
const RECORDED: readonly Recorded[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'testdata/objects.json'), 'utf8'),
);

describe('a protocol buffer', () => {
  it.each(RECORDED)('of a $kind is the JSON of the same object', ({ kind, message, object }) => {
    const envelope = openEnvelope(Buffer.from(message, 'base64'));
    expect(envelope.kind).toBe(kind);
    const { apiVersion } = envelope;
    const decoded = decodeObject(schemaOf(object), envelope.object);
    expect(withoutEmpty({ apiVersion, kind, ...decoded })).toEqual(object);
  });

  it('that was damaged anywhere is refused or read as something else, and never more', () => {
    const messages = RECORDED.map(({ object, message }) => ({
      schema: schemaOf(object),
      bytes: Buffer.from(message, 'base64'),
    }));
    fc.assert(
      fc.property(
        fc.constantFrom(...messages),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 5 }),
        fc.nat(),
        ({ schema, bytes }, changes, length) => {
          const damaged = Uint8Array.from(bytes).subarray(0, bytes.length - (length % 20));
          for (const [at, byte] of changes) damaged[4 + (at % damaged.length)] = byte;
          try {
            decodeObject(schema, openEnvelope(damaged).object);
          } catch (error) {
            expect(error).toBeInstanceOf(WireError);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('is known by its first four bytes', () => {
    expect(() => openEnvelope(Buffer.from('{"kind":"Pod"}'))).toThrow(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  });
});

function schemaOf({ apiVersion, kind }: KubeObject): JsonSchema {
  return kindSchema(resource(apiVersion, '', kind));
}

/** Empty objects and lists are sent, and mean nothing. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .map(([key, member]) => [key, withoutEmpty(member)] as const)
    .filter(([, member]) => !isEmpty(member));
  return Object.fromEntries(members);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
