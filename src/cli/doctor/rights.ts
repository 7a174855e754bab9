/** What the user may do, of that which people who run JobSets do. */

import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { mayI, type ResourceAttributes } from '../own-rights.ts';
import { type Asking, checkOf, type Fact, type Finding, fact } from './finding.ts';

const TOPIC = 'Rights';

type Right = Omit<ResourceAttributes, 'namespace' | 'name'>;

interface Purpose {
  readonly check: string;
  /** Completes "you may": `run JobSets`. */
  readonly what: string;
  readonly rights: readonly Right[];
  readonly role: string;
}

const ofJobSets = (verb: string): Right => ({
  verb,
  group: JOBSETS.group,
  resource: JOBSETS.plural,
});
const of = (verb: string, one: string, group = ''): Right => ({ verb, group, resource: one });

const PURPOSES: readonly Purpose[] = [
  {
    check: 'may-run',
    what: 'create, change and delete JobSets (kubectl apply, lockstep restart)',
    rights: ['create', 'patch', 'delete'].map(ofJobSets),
    role: 'edit',
  },
  {
    check: 'may-see',
    what: 'see JobSets and their members (lockstep status, report)',
    rights: [
      ...['get', 'list', 'watch'].map(ofJobSets),
      of('list', 'pods'),
      of('watch', 'pods'),
      of('list', 'jobs', 'batch'),
    ],
    role: 'view',
  },
  {
    check: 'may-read-logs',
    what: 'read logs of workers (lockstep logs)',
    rights: [{ ...of('get', 'pods'), subresource: 'log' }],
    role: 'view',
  },
  {
    check: 'may-ask-members',
    what: 'ask agents about progress (lockstep status)',
    rights: [{ ...of('create', 'pods'), subresource: 'portforward' }],
    role: 'edit',
  },
  {
    check: 'may-see-events',
    what: 'see Events (kubectl describe)',
    rights: [of('list', 'events')],
    role: 'view',
  },
];

export interface RightsFacts {
  readonly namespace: string;
  readonly answers: readonly {
    readonly purpose: Purpose;
    /** The rights that the user lacks, such as `create jobsets`. */
    readonly lacking: Fact<readonly string[]>;
  }[];
}

export async function readRights(
  client: Client,
  asking: Asking,
  namespace: string,
): Promise<RightsFacts> {
  const answers = await Promise.all(
    PURPOSES.map(async (purpose) => ({
      purpose,
      lacking: await fact(asking, 'ask for your own rights', async (signal) => {
        const asked = await Promise.all(
          purpose.rights.map(async (right) => ({
            right,
            isAllowed: await mayI(client, { namespace, ...right }, signal),
          })),
        );
        return asked.filter(({ isAllowed }) => !isAllowed).map(({ right }) => nameOf(right));
      }),
    })),
  );
  return { namespace, answers };
}

function nameOf({ verb, resource: one, subresource }: Right): string {
  return `${verb} ${one}${subresource === undefined ? '' : `/${subresource}`}`;
}

export function rightsFindings({ namespace, answers }: RightsFacts): readonly Finding[] {
  return answers.map(({ purpose: { check, what, role }, lacking }): Finding => {
    const about = checkOf(TOPIC, check);
    if (!('value' in lacking)) return about.unknown(lacking.unknown);
    if (lacking.value.length === 0) {
      return about.ok(`you may ${what} in namespace ${namespace}`);
    }
    return about.note(
      `you may not ${what} in namespace ${namespace}: you lack ${lacking.value.join(', ')}`,
      `an administrator runs: kubectl -n ${namespace} create rolebinding lockstep-${role} --clusterrole=${role} --user=YOU`,
    );
  });
}
