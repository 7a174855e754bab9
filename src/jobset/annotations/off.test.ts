import { formatFieldError } from '@lockstep/kube/field-error.ts';
import { describe, expect, it } from 'vitest';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { withDefaults } from '../defaults.ts';
import { DEFAULT_FEATURE_GATES } from '../feature-gates.ts';
import { agentInjector, wantsAgents } from '../injection/agent-mode.ts';
import { parseLostNodeDeadline } from '../injection/lost-node-deadline.ts';
import { mayAvoidNodes } from '../injection/node-avoidance.ts';
import type { JobSet, JobSetSpec } from '../jobset.ts';
import * as names from '../names.ts';
import { laterJobsWarnings } from '../validation/later-jobs.ts';
import {
  jobSetWarnings,
  validateJobSetCreate,
  validateJobSetUpdate,
} from '../validation/validation.ts';
import { specView } from '../view/spec-view.ts';
import { isOff, OWN_ANNOTATIONS } from './table.ts';

const SPEC: JobSetSpec = {
  replicatedJobs: [replicatedJob('w', 2)],
  failurePolicy: { maxRestarts: 3, restartStrategy: 'InPlaceRestart' },
};
const SUPERVISOR = { [names.RESTART_MODE]: 'Supervisor' };
const KEYS = OWN_ANNOTATIONS.filter(({ on }) => on.includes('JobSet'));
const CAN_BE_OFF = KEYS.filter(({ off }) => off !== undefined);

function refused(annotations: Readonly<Record<string, string>>): readonly string[] {
  const jobSet = storedJobSet(SPEC, { annotations });
  return validateJobSetCreate(jobSet, DEFAULT_FEATURE_GATES).map(formatFieldError);
}

/** The Pods of a JobSet with these annotations. */
function podTemplate(annotations: Readonly<Record<string, string>>): object {
  const spec = withDefaults(SPEC);
  const [job] = spec.replicatedJobs;
  if (job === undefined) throw new Error('no job');
  return agentInjector(spec, annotations, { image: 'agent' })(job.template.spec.template, 'w');
}

describe('Off', () => {
  // Without an agent of its own a template needs one that is injected.
  const valid = CAN_BE_OFF.filter(({ key }) => key !== names.AGENT_INJECTION);

  it.each(valid)('is accepted by $key, and so is each older word', ({ key, off = [] }) => {
    for (const word of ['Off', ...off]) {
      expect(refused({ ...SUPERVISOR, [key]: word })).toEqual([]);
      expect(
        specView(storedJobSet(SPEC, { annotations: { [key]: word } })).policies.join(),
      ).not.toMatch(/not valid|no effect/);
    }
  });

  it.each(valid)('of $key warns of nothing in any mode', ({ key }) => {
    const plain = { ...SPEC, failurePolicy: { maxRestarts: 1 } };
    for (const spec of [SPEC, plain]) {
      const annotations = { [names.RESTART_MODE]: 'Sidecar' };
      const without = jobSetWarnings(storedJobSet(spec, { annotations }));
      const off = { annotations: { ...annotations, [key]: 'Off' } };
      expect(jobSetWarnings(storedJobSet(spec, off))).toEqual(without);
    }
  });

  it.each([
    names.LOST_NODE_DEADLINE,
    names.PROGRESS_PREFIX,
    names.STANDBY,
    names.HANG_COMMAND,
    names.PREFLIGHT,
  ])('of %s leaves Pods as they are without it', (key) => {
    expect(podTemplate({ ...SUPERVISOR, [key]: 'Off' })).toEqual(podTemplate(SUPERVISOR));
  });

  it('of last words is told to the agent', () => {
    const told = podTemplate({ ...SUPERVISOR, [names.LAST_WORDS]: 'Off' });
    expect(JSON.stringify(told)).toContain('{"name":"LOCKSTEP_LAST_WORDS","value":"Off"}');
  });

  it('leaves templates and nodes alone', () => {
    const spec = withDefaults(SPEC);
    expect(wantsAgents(spec, { [names.AGENT_INJECTION]: 'Off' })).toBe(false);
    expect(mayAvoidNodes({ [names.REPLACE_AFTER]: 'Off', [names.PREFLIGHT]: 'Off' })).toBe(false);
    expect(mayAvoidNodes({ [names.PREFLIGHT]: 'off' })).toBe(true);
    expect(parseLostNodeDeadline('Off')).toBeUndefined();
  });

  it.each(KEYS.filter(({ off }) => off === undefined))('is refused by $key', ({ key }) => {
    expect(isOff(key, 'Off')).toBe(false);
    expect(refused({ [key]: 'Off' })).not.toEqual([]);
  });
});

describe('disable-in-place-restart', () => {
  const key = names.DISABLE_IN_PLACE_RESTART;

  it.each(['false', 'False', 'no', 'Off', '0'])(
    'with the value %s is refused when it is new',
    (value) => {
      expect(refused({ [key]: value })).toEqual([
        `metadata.annotations[${key}]: Invalid value: "${value}": the annotation takes the JobSet out of in-place restart whatever its value: remove it to restart in place`,
      ]);
      const changed = (from: string, to: string) =>
        validateJobSetUpdate(
          storedJobSet(SPEC, { annotations: { [key]: from } }),
          storedJobSet(SPEC, { annotations: { [key]: to, other: 'x' } }),
          DEFAULT_FEATURE_GATES,
        );
      expect(changed('true', value)).toHaveLength(1);
      expect(changed(value, value)).toEqual([]);
    },
  );

  it.each(['', 'true', 'because of ticket 7'])('with the value "%s" is accepted', (value) => {
    expect(refused({ [key]: value })).toEqual([]);
  });
});

describe('a change that only later Jobs hear of', () => {
  const begun = (
    annotations: Readonly<Record<string, string>>,
    status: JobSet['status'],
  ): JobSet => ({
    ...storedJobSet(SPEC, { annotations }),
    ...(status && { status }),
  });
  const warnings = (
    from: Readonly<Record<string, string>>,
    to: Readonly<Record<string, string>>,
    status?: JobSet['status'],
  ) => laterJobsWarnings(begun(from, status), begun(to, status));

  it('says so', () => {
    expect(
      warnings({}, { [names.STANDBY]: 'Warm', [names.KEEP_FAILED]: '1h' }, { restarts: 0 }),
    ).toEqual([
      `metadata.annotations[${names.STANDBY}] reaches Jobs that are made from now on; those that run keep what they were made with`,
    ]);
    expect(warnings({ [names.STOP_GRACE]: '5s' }, {}, { restarts: 0 })).toHaveLength(1);
  });

  it.each([names.LAST_WORDS, names.AGENT_INJECTION])(
    'says so of %s, which is on without the annotation',
    (key) => {
      expect(warnings({}, { [key]: 'Off' }, { restarts: 0 })).toHaveLength(1);
      expect(warnings({ [key]: 'Off' }, {}, { restarts: 0 })).toHaveLength(1);
    },
  );

  it('says so of replace-after where Pods lack the label that it needs', () => {
    const [replaceAfter, preflight] = [names.REPLACE_AFTER, names.PREFLIGHT];
    const after = { [replaceAfter]: '3/1h' };
    expect(warnings({}, after, { restarts: 0 })).toEqual([
      `metadata.annotations[${replaceAfter}] reaches Jobs that are made from now on; those that run keep what they were made with`,
    ]);
    const changed = { [replaceAfter]: '5/1h' };
    expect(warnings(after, changed, { restarts: 0 })).toEqual([]);
    expect(warnings(after, { [replaceAfter]: 'Off' }, { restarts: 0 })).toEqual([]);
    const checked = { [preflight]: 'true' };
    expect(warnings(checked, { ...checked, ...after }, { restarts: 0 })).toEqual([]);
  });

  it('says nothing if it changes nothing, or no Job can run', () => {
    expect(warnings({}, { [names.STANDBY]: 'Off' }, { restarts: 0 })).toEqual([]);
    expect(warnings({}, { [names.STANDBY]: 'Warm' })).toEqual([]);
    expect(warnings({}, { [names.STANDBY]: 'Warm' }, { observedGeneration: -1 })).toEqual([]);
  });
});
