/** A group on the Kubernetes under test: the embedded one under a virtual clock, or a real one. */
import { type ClusterUnderTest, VirtualCluster } from '../fixtures/cluster-under-test.ts';
import { RealCluster } from '../fixtures/real-cluster.ts';
import { KUBERNETES } from '../kubernetes.ts';
import { GroupOn, type HubNetwork, type StartMember } from './training-group.fixture.ts';

export class GroupUnderTest extends GroupOn<ClusterUnderTest> {
  constructor(startMember?: StartMember, hub?: HubNetwork) {
    super(clusterUnderTest(), startMember, hub);
  }
}

/** With the operator and no JobSet yet. The caller has to stop it. */
export async function startedGroupUnderTest(member?: StartMember): Promise<GroupUnderTest> {
  const group = new GroupUnderTest(member);
  await group.start();
  return group;
}

export function clusterUnderTest(
  ofEmbedded?: ConstructorParameters<typeof VirtualCluster>[0],
): ClusterUnderTest {
  return KUBERNETES === undefined ? new VirtualCluster(ofEmbedded) : new RealCluster();
}
