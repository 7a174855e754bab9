/**
 * Measures the admission of a JobSet with many ReplicatedJobs: each webhook, from the bytes of a
 * review to those of its answer, and the API server's own part, mostly the definition's schema and
 * rules.
 */
import { createApiServer, MemoryStorage } from '@lockstep/embedded-kubernetes/in-memory';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { DEFAULT_FEATURE_GATES } from '../jobset/feature-gates.ts';
import { JOBSETS } from '../jobset/jobset.ts';
import { JOBSET_CRD } from '../jobset/schema/crd.ts';
import { admissionEndpoint } from '../operator/webhooks/admission-endpoint.ts';
import {
  jobSetMutator,
  jobSetQuestions,
  jobSetValidator,
} from '../operator/webhooks/jobset-webhooks.ts';
import { jobSetOf, NAME, NAMESPACE } from './large-jobset.ts';
import { percentile, type Row, spread } from './table.ts';

const REPLICATED_JOBS = 100;
const ROUNDS = 300;
const WARM_UP_ROUNDS = 100;

const PORTS = { clock: nodeClock, random: systemRandom, logger: SILENT };
const JOB_SET = jobSetOf(REPLICATED_JOBS, 1);

export async function benchAdmission(report: (row: Row) => void): Promise<void> {
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

const REVIEW = Buffer.from(
  JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u',
      operation: 'CREATE',
      kind: { group: JOBSETS.group, version: JOBSETS.version, kind: JOBSETS.kind },
      resource: { group: JOBSETS.group, version: JOBSETS.version, resource: JOBSETS.plural },
      namespace: NAMESPACE,
      name: JOB_SET.metadata.name,
      userInfo: { username: 'bench' },
      object: JOB_SET,
    },
  }),
);

async function benchServer(benchmark: string): Promise<Row> {
  const server = createApiServer({ ...PORTS, storage: new MemoryStorage() });
  await server.start();
  const client = createClient({
    ...PORTS,
    transport: handlerTransport(server.handler, {
      address: '127.0.0.1',
      certificate: { commonName: 'bench', organizations: ['system:masters'] },
    }),
    userAgent: 'lockstep-bench',
  });
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
  const jobSet = { ...JOB_SET, metadata: { namespace: NAMESPACE, generateName: `${NAME}-` } };
  const row = await timed(benchmark, () => client.create(JOBSETS, jobSet));
  await server.close();
  return row;
}

async function timed(benchmark: string, work: () => Promise<unknown>): Promise<Row> {
  const times: number[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    const startMs = performance.now();
    await work();
    if (round >= WARM_UP_ROUNDS) times.push(performance.now() - startMs);
  }
  const notes = `99th percentile ${percentile(times, 99).toFixed(1)} ms`;
  return { benchmark, unit: 'ms', ...spread(times), notes };
}
