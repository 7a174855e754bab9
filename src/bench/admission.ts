/**
 * Measures the admission of a JobSet with many ReplicatedJobs: each webhook, from the bytes of a
 * review to the bytes of its answer, and the API server's own part, mostly the definition's schema
 * and rules.
 */
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { PORTS } from '../cli/ports.ts';
import { DEFAULT_FEATURE_GATES } from '../jobset/feature-gates.ts';
import { JOBSETS } from '../jobset/jobset.ts';
import { JOBSET_CRD } from '../jobset/schema/crd.ts';
import { admissionEndpoint } from '../operator/webhooks/admission-endpoint.ts';
import {
  jobSetMutator,
  jobSetQuestions,
  jobSetValidator,
} from '../operator/webhooks/jobset-webhooks.ts';
import { reviewOf } from './hostile/reviews.ts';
import { jobSetOf, NAME, NAMESPACE } from './large-jobset.ts';
import { startMemoryServer } from './memory-server.ts';
import { percentile, type Report, type Row, spread, timesOf } from './table.ts';

const REPLICATED_JOBS = 100;
const ROUNDS = { warmUp: 100, rounds: 300 };
const JOB_SET = jobSetOf(REPLICATED_JOBS, 1);

export async function benchAdmission(report: Report): Promise<void> {
  const questions = jobSetQuestions(new MemoryClient());
  const handlers = new Map([
    ['/mutate', jobSetMutator(questions, DEFAULT_FEATURE_GATES)],
    ['/validate', jobSetValidator(questions, DEFAULT_FEATURE_GATES)],
  ]);
  const endpoint = admissionEndpoint({ ...PORTS, handlers });
  const of = `${REPLICATED_JOBS} ReplicatedJobs`;
  for (const path of handlers.keys()) {
    const work = async (): Promise<void> => {
      const { signal } = new AbortController();
      const headers = { 'content-type': 'application/json' };
      const { status } = await endpoint({ method: 'POST', path, headers, body: REVIEW, signal });
      if (status !== 200) throw new Error(`${path} answered ${status}`);
    };
    report(await timed(`Admission: ${path.slice(1)} ${of}`, work));
  }
  report(await benchServer(`Admission: create ${of}, no webhook`));
}

const REVIEW = Buffer.from(reviewOf(JOB_SET));

async function benchServer(benchmark: string): Promise<Row> {
  const { client, close } = await startMemoryServer();
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
  const jobSet = { ...JOB_SET, metadata: { namespace: NAMESPACE, generateName: `${NAME}-` } };
  const row = await timed(benchmark, () => client.create(JOBSETS, jobSet));
  await close();
  return row;
}

async function timed(benchmark: string, work: () => Promise<unknown>): Promise<Row> {
  const times = await timesOf(work, ROUNDS);
  const notes = `99th percentile ${percentile(times, 99).toFixed(1)} ms`;
  return { benchmark, unit: 'ms', ...spread(times), notes };
}
