/** Schemas of the volumes of a Pod: `core/v1 Volume` and its sources. */
import {
  atomicList,
  boolean,
  defaulted,
  definitions,
  int32,
  int64,
  map,
  oneOf,
  string,
} from '../schema/builders.ts';
import {
  AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE,
  AZURE_DISK_VOLUME_SOURCE,
  AZURE_FILE_VOLUME_SOURCE,
  CEPH_FS_VOLUME_SOURCE,
  CINDER_VOLUME_SOURCE,
  FLEX_VOLUME_SOURCE,
  FLOCKER_VOLUME_SOURCE,
  GCE_PERSISTENT_DISK_VOLUME_SOURCE,
  GIT_REPO_VOLUME_SOURCE,
  GLUSTERFS_VOLUME_SOURCE,
  PHOTON_PERSISTENT_DISK_VOLUME_SOURCE,
  PORTWORX_VOLUME_SOURCE,
  QUOBYTE_VOLUME_SOURCE,
  RBD_VOLUME_SOURCE,
  SCALE_IO_VOLUME_SOURCE,
  STORAGE_OS_VOLUME_SOURCE,
  VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE,
} from './legacy-volume-schema.ts';
import { LABEL_SELECTOR, QUANTITY } from './meta-schema.ts';
import {
  KEY_TO_PATH,
  LOCAL_OBJECT_REFERENCE,
  OBJECT_FIELD_SELECTOR,
  RESOURCE_FIELD_SELECTOR,
} from './reference-schema.ts';
import { PERSISTENT_VOLUME_CLAIM_TEMPLATE } from './volume-claim-schema.ts';

const core = definitions('io.k8s.api.core.v1');

const DOWNWARD_API_VOLUME_FILE = core(
  'DownwardAPIVolumeFile',
  {
    path: string(),
    fieldRef: OBJECT_FIELD_SELECTOR,
    resourceFieldRef: RESOURCE_FIELD_SELECTOR,
    mode: int32(),
  },
  { required: ['path'] },
);

const CONFIG_MAP_VOLUME_SOURCE = core('ConfigMapVolumeSource', {
  name: string(),
  items: atomicList(KEY_TO_PATH),
  defaultMode: int32(),
  optional: boolean(),
});

const SECRET_VOLUME_SOURCE = core('SecretVolumeSource', {
  secretName: string(),
  items: atomicList(KEY_TO_PATH),
  defaultMode: int32(),
  optional: boolean(),
});

const DOWNWARD_API_VOLUME_SOURCE = core('DownwardAPIVolumeSource', {
  items: atomicList(DOWNWARD_API_VOLUME_FILE),
  defaultMode: int32(),
});

const EMPTY_DIR_VOLUME_SOURCE = core('EmptyDirVolumeSource', {
  medium: string(),
  sizeLimit: QUANTITY,
});

const HOST_PATH_VOLUME_SOURCE = core(
  'HostPathVolumeSource',
  {
    path: string(),
    type: oneOf([
      '',
      'BlockDevice',
      'CharDevice',
      'Directory',
      'DirectoryOrCreate',
      'File',
      'FileOrCreate',
      'Socket',
    ]),
  },
  { required: ['path'] },
);

const PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE = core(
  'PersistentVolumeClaimVolumeSource',
  { claimName: string(), readOnly: boolean() },
  { required: ['claimName'] },
);

const EPHEMERAL_VOLUME_SOURCE = core('EphemeralVolumeSource', {
  volumeClaimTemplate: PERSISTENT_VOLUME_CLAIM_TEMPLATE,
});

const CSI_VOLUME_SOURCE = core(
  'CSIVolumeSource',
  {
    driver: string(),
    readOnly: boolean(),
    fsType: string(),
    volumeAttributes: map(string()),
    nodePublishSecretRef: LOCAL_OBJECT_REFERENCE,
  },
  { required: ['driver'] },
);

const FC_VOLUME_SOURCE = core('FCVolumeSource', {
  targetWWNs: atomicList(string()),
  lun: int32(),
  fsType: string(),
  readOnly: boolean(),
  wwids: atomicList(string()),
});

const ISCSI_VOLUME_SOURCE = core(
  'ISCSIVolumeSource',
  {
    targetPortal: string(),
    iqn: string(),
    lun: int32(),
    iscsiInterface: defaulted('default', string()),
    fsType: string(),
    readOnly: boolean(),
    portals: atomicList(string()),
    chapAuthDiscovery: boolean(),
    chapAuthSession: boolean(),
    secretRef: LOCAL_OBJECT_REFERENCE,
    initiatorName: string(),
  },
  { required: ['targetPortal', 'iqn', 'lun'] },
);

const NFS_VOLUME_SOURCE = core(
  'NFSVolumeSource',
  { server: string(), path: string(), readOnly: boolean() },
  { required: ['server', 'path'] },
);

const IMAGE_VOLUME_SOURCE = core('ImageVolumeSource', {
  reference: string(),
  pullPolicy: oneOf(['Always', 'IfNotPresent', 'Never']),
});

const CONFIG_MAP_PROJECTION = core('ConfigMapProjection', {
  name: string(),
  items: atomicList(KEY_TO_PATH),
  optional: boolean(),
});

const SECRET_PROJECTION = core('SecretProjection', {
  name: string(),
  items: atomicList(KEY_TO_PATH),
  optional: boolean(),
});

const DOWNWARD_API_PROJECTION = core('DownwardAPIProjection', {
  items: atomicList(DOWNWARD_API_VOLUME_FILE),
});

const SERVICE_ACCOUNT_TOKEN_PROJECTION = core(
  'ServiceAccountTokenProjection',
  {
    audience: string(),
    expirationSeconds: int64(),
    path: string(),
  },
  { required: ['path'] },
);

const CLUSTER_TRUST_BUNDLE_PROJECTION = core(
  'ClusterTrustBundleProjection',
  {
    name: string(),
    signerName: string(),
    labelSelector: LABEL_SELECTOR,
    optional: boolean(),
    path: string(),
  },
  { required: ['path'] },
);

const POD_CERTIFICATE_PROJECTION = core(
  'PodCertificateProjection',
  {
    signerName: string(),
    keyType: string(),
    maxExpirationSeconds: int32(),
    credentialBundlePath: string(),
    keyPath: string(),
    certificateChainPath: string(),
    userAnnotations: map(string()),
  },
  { required: ['signerName', 'keyType'] },
);

const VOLUME_PROJECTION = core('VolumeProjection', {
  secret: SECRET_PROJECTION,
  downwardAPI: DOWNWARD_API_PROJECTION,
  configMap: CONFIG_MAP_PROJECTION,
  serviceAccountToken: SERVICE_ACCOUNT_TOKEN_PROJECTION,
  clusterTrustBundle: CLUSTER_TRUST_BUNDLE_PROJECTION,
  podCertificate: POD_CERTIFICATE_PROJECTION,
});

const PROJECTED_VOLUME_SOURCE = core('ProjectedVolumeSource', {
  sources: atomicList(VOLUME_PROJECTION),
  defaultMode: int32(),
});

export const VOLUME = core(
  'Volume',
  {
    name: string(),
    hostPath: HOST_PATH_VOLUME_SOURCE,
    emptyDir: EMPTY_DIR_VOLUME_SOURCE,
    gcePersistentDisk: GCE_PERSISTENT_DISK_VOLUME_SOURCE,
    awsElasticBlockStore: AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE,
    gitRepo: GIT_REPO_VOLUME_SOURCE,
    secret: SECRET_VOLUME_SOURCE,
    nfs: NFS_VOLUME_SOURCE,
    iscsi: ISCSI_VOLUME_SOURCE,
    glusterfs: GLUSTERFS_VOLUME_SOURCE,
    persistentVolumeClaim: PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE,
    rbd: RBD_VOLUME_SOURCE,
    flexVolume: FLEX_VOLUME_SOURCE,
    cinder: CINDER_VOLUME_SOURCE,
    cephfs: CEPH_FS_VOLUME_SOURCE,
    flocker: FLOCKER_VOLUME_SOURCE,
    downwardAPI: DOWNWARD_API_VOLUME_SOURCE,
    fc: FC_VOLUME_SOURCE,
    azureFile: AZURE_FILE_VOLUME_SOURCE,
    configMap: CONFIG_MAP_VOLUME_SOURCE,
    vsphereVolume: VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE,
    quobyte: QUOBYTE_VOLUME_SOURCE,
    azureDisk: AZURE_DISK_VOLUME_SOURCE,
    photonPersistentDisk: PHOTON_PERSISTENT_DISK_VOLUME_SOURCE,
    projected: PROJECTED_VOLUME_SOURCE,
    portworxVolume: PORTWORX_VOLUME_SOURCE,
    scaleIO: SCALE_IO_VOLUME_SOURCE,
    storageos: STORAGE_OS_VOLUME_SOURCE,
    csi: CSI_VOLUME_SOURCE,
    ephemeral: EPHEMERAL_VOLUME_SOURCE,
    image: IMAGE_VOLUME_SOURCE,
  },
  { required: ['name'] },
);
