/**
 * Records what a real API server answers to the script:
 * `tsx tools/control-plane/main.ts -- tsx test/conformance/record.ts`.
 */
import { writeFileSync } from 'node:fs';
import { createHttpTransport } from '@lockstep/kube/runtime/adapters/http-transport.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { playScript, sendVia } from './api-answers.ts';

const path = process.env['LOCKSTEP_TEST_KUBECONFIG'];
const access = await loadKubeconfig({ path, env: {}, homeDirectory: '/' });
const transport = createHttpTransport(access);
const answers = await playScript(sendVia(transport));
transport.close();
const file = new URL('recorded/api-server.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(answers, null, 1)}\n`);
