/**
 * The process of one node's agent. Its parent keeps the processes of its Pods. It ends with its
 * parent, because it cannot work alone.
 */
import { setMaxListeners } from 'node:events';
import { createHttpTransport } from '@lockstep/kube/runtime/adapters/http-transport.ts';
import { refuseInspector } from '@lockstep/kube/runtime/adapters/no-inspector.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createPinoLogger } from '@lockstep/kube/runtime/adapters/pino-logger.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { KeyPair } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { type LocalNodes, startLocalNodes } from '../local-nodes.ts';
import { createNodeFiles } from '../node/adapters/node-files.ts';
import type { FromNode, NodeConfiguration, ToNode } from './node-messages.ts';
import type { KeeperMessage } from './process-messages.ts';
import { RemoteKeeper } from './remote-keeper.ts';

const STDOUT = 1;
/** One signal ends all requests of a node, and each listens to it while it lasts. */
const MAX_LISTENERS_PER_SIGNAL = 10_000;

refuseInspector();
setMaxListeners(MAX_LISTENERS_PER_SIGNAL);
const logger = createPinoLogger({ destination: STDOUT, level: 'info' });
const waitingForPair: ((pair: KeyPair) => void)[] = [];
let receiveFromKeeper: (message: KeeperMessage) => void = () => undefined;
let nodes: LocalNodes | undefined;

process.on('disconnect', () => process.exit(1));
process.on('message', (message) => void receive(message as ToNode));

async function receive(message: ToNode): Promise<void> {
  switch (message.type) {
    case 'configure':
      await start(message.configuration);
      break;
    case 'certificate':
      waitingForPair.shift()?.(message.pair);
      break;
    case 'keeper':
      receiveFromKeeper(message.message);
      break;
    case 'stop':
      await nodes?.stop();
      process.exit(0);
  }
}

async function start(configuration: NodeConfiguration): Promise<void> {
  const { name, server, authority, credentials } = configuration;
  const url = new URL(server);
  const keeper = new RemoteKeeper({
    send: (inner) => send({ type: 'keeper', message: inner }),
    onMessage: (handler) => {
      receiveFromKeeper = handler;
    },
  });
  const tls = {
    certificateAuthority: authority,
    clientCertificate: credentials.certificate,
    clientKey: credentials.key,
  };
  try {
    nodes = await startLocalNodes({
      ...configuration,
      nodes: [configuration],
      clock: nodeClock,
      random: systemRandom,
      logger,
      processes: keeper,
      keeper,
      files: createNodeFiles(),
      hostsDirectory: `${configuration.stateDirectory}/nodes/${name}/hosts`,
      apiServer: { host: url.hostname, port: Number(url.port) },
      connect: (userAgent) =>
        createClient({
          transport: createHttpTransport({ server, tls }),
          clock: nodeClock,
          random: systemRandom,
          userAgent,
        }),
      servingCertificate: (_node, address) =>
        new Promise((resolve) => {
          waitingForPair.push(resolve);
          send({ type: 'certificate', address });
        }),
      clientAuthority: authority,
      onNetwork: (hostIP) => send({ type: 'ready', hostIP }),
    });
  } catch (error) {
    logger.error('the node could not be started', { node: name, err: error });
    process.exit(1);
  }
}

function send(message: FromNode): void {
  process.send?.(message);
}
