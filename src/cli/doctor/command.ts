/** `lockstep doctor`: reads what it may, and prints what it finds. */
import packageJson from '../../../package.json' with { type: 'json' };
import { Arguments, namespaceErrors, type Parsed } from '../arguments.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';
import { existingJobSet, jobSetNameErrors, withCluster } from '../named-jobset.ts';
import { PORTS } from '../ports.ts';
import { tell } from '../tell.ts';
import { examine } from './examination.ts';
import { type Finding, isUnknown } from './finding.ts';
import { findingsJson, printedFindings } from './printed-findings.ts';

export interface DoctorFlags {
  readonly namespace?: string;
  readonly jobsetNamespace?: string;
  readonly output?: string;
  readonly probe?: boolean;
  readonly image?: string;
}

export interface DoctorOptions {
  /** The operator's; undefined: it is to be found. */
  readonly namespace: string | undefined;
  /** Undefined: the namespace of the kubeconfig's context. */
  readonly jobSetNamespace: string | undefined;
  readonly isJson: boolean;
  /** Whether a Pod looks from inside. */
  readonly hasProbe: boolean;
  /** The JobSet like whose Pods it is; undefined: like none. */
  readonly jobSet: string | undefined;
  /** Its image; undefined: the image of injected agents. */
  readonly image: string | undefined;
}

export function parseDoctor(
  jobSet: string | undefined,
  { namespace, jobsetNamespace, output, probe = false, image }: DoctorFlags,
): Parsed<DoctorOptions> {
  const given = new Arguments([
    ...namespaceErrors(namespace),
    ...namespaceErrors(jobsetNamespace, '--jobset-namespace'),
  ]);
  const isJson = given.oneOf('--output', output, ['json']) !== undefined;
  if (image !== undefined && !/^\S+$/.test(image)) {
    given.refuse(`--image is "${image}", allowed is the name of an image`);
  }
  if (image !== undefined && !probe) {
    given.refuse('--image is for the Pod of --probe, which is missing');
  }
  if (jobSet !== undefined) {
    given.refuse(...jobSetNameErrors({ name: jobSet, namespace: undefined }));
    if (!probe) given.refuse(`JobSet "${jobSet}" is for the Pod of --probe, which is missing`);
  }
  const common = { isJson, hasProbe: probe, image, jobSet };
  // As in all commands that name a JobSet; the operator is found by itself.
  return jobSet !== undefined && jobsetNamespace === undefined
    ? given.parsed({ ...common, namespace: undefined, jobSetNamespace: namespace })
    : given.parsed({ ...common, namespace, jobSetNamespace: jobsetNamespace });
}

const EXIT_PROBLEM = 1;
/** 2 is a wrong argument. */
const EXIT_NOT_CHECKED = 3;
/** For a pipe or a file. */
const DEFAULT_COLUMNS = 100;

/** Returns the exit code. */
export async function doctor(
  { isJson, jobSet: name, ...options }: DoctorOptions,
  flags: ConnectionFlags,
): Promise<number> {
  return withCluster(flags, async (connection) => {
    const { client, serverVersion, access, signal } = connection;
    const namespace = options.jobSetNamespace ?? access.namespace;
    const jobSet = name && (await existingJobSet(client, { namespace, name }, signal));
    const findings = await examine({
      ...options,
      ...(jobSet && { jobSet }),
      jobSetNamespace: namespace,
      random: PORTS.random,
      warn: tell,
      client,
      connection,
      serverVersion,
      version: packageJson.version,
      clock: PORTS.clock,
      signal,
    });
    const { isTTY, columns } = process.stdout;
    const lines = isJson
      ? [findingsJson(findings)]
      : printedFindings(findings, isTTY ? columns : DEFAULT_COLUMNS);
    process.stdout.write(`${lines.join('\n')}\n`);
    return exitCodeOf(findings);
  });
}

/** 0 says that all was looked at: a cluster that may not be read is not known to be well. */
export function exitCodeOf(findings: readonly Finding[]): number {
  if (findings.some(({ level }) => level === 'problem')) return EXIT_PROBLEM;
  return findings.some(isUnknown) ? EXIT_NOT_CHECKED : 0;
}
