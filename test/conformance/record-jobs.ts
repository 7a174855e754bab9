/**
 * Records what a real Job controller does in the scenarios:
 * `tsx tools/control-plane/main.ts -- tsx test/conformance/record-jobs.ts`.
 */
import { writeFileSync } from 'node:fs';
import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { playJobs } from './job-stages.ts';

const path = process.env['LOCKSTEP_TEST_KUBECONFIG'];
const access = await loadKubeconfig({ path, env: {}, homeDirectory: '/' });
const runtime = { clock: nodeClock, random: systemRandom, userAgent: 'lockstep-test' };
const { client, close } = connectClient(access, runtime);
const played = await playJobs(client, nodeClock);
close();
const file = new URL('recorded/job-controller.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(played, null, 1)}\n`);
