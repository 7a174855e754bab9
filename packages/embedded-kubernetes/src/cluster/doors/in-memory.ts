/**
 * A Kubernetes inside a test: a cluster under a virtual clock, an API server under a virtual clock, and
 * the parts to put together another one.
 */
export { createTokenSigner } from '../apiserver/adapters/token-signer.ts';
export { createWebhookTransports } from '../apiserver/adapters/webhook-transports.ts';
export { createApiServer } from '../apiserver/api-server.ts';
export {
  issueToken,
  TOKEN_ISSUER,
  type TokenGrant,
  type TokenSigner,
} from '../apiserver/identity/service-account-tokens.ts';
export { TestServer } from '../apiserver/test-server.ts';
export { JOB_POD_INDEXES, startJobController } from '../job-controller/job-controller.ts';
export { MemoryStorage } from '../memory/memory-storage.ts';
export { MemoryCluster } from '../memory-cluster.ts';
export { ScriptedCluster } from '../scripted-cluster.ts';
export type { PlayContainer, PlayedRun } from '../scripted-pod.ts';
