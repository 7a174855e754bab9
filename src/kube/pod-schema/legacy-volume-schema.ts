/**
 * Schemas of the volume sources of single vendors and of times past. Lockstep's own node does not
 * provide them, but a manifest that names them has to pass unharmed to a cluster that does.
 */
import {
  atomicList,
  boolean,
  defaulted,
  definitions,
  int32,
  map,
  oneOf,
  string,
} from '../schema/builders.ts';
import { LOCAL_OBJECT_REFERENCE } from './reference-schema.ts';

const core = definitions('io.k8s.api.core.v1');

export const AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE = core(
  'AWSElasticBlockStoreVolumeSource',
  {
    volumeID: string(),
    fsType: string(),
    partition: int32(),
    readOnly: boolean(),
  },
  { required: ['volumeID'] },
);

export const AZURE_DISK_VOLUME_SOURCE = core(
  'AzureDiskVolumeSource',
  {
    diskName: string(),
    diskURI: string(),
    cachingMode: defaulted('ReadWrite', oneOf(['None', 'ReadOnly', 'ReadWrite'])),
    fsType: defaulted('ext4', string()),
    readOnly: defaulted(false, boolean()),
    kind: defaulted('Shared', oneOf(['Dedicated', 'Managed', 'Shared'])),
  },
  { required: ['diskName', 'diskURI'] },
);

export const AZURE_FILE_VOLUME_SOURCE = core(
  'AzureFileVolumeSource',
  {
    secretName: string(),
    shareName: string(),
    readOnly: boolean(),
  },
  { required: ['secretName', 'shareName'] },
);

export const CEPH_FS_VOLUME_SOURCE = core(
  'CephFSVolumeSource',
  {
    monitors: atomicList(string()),
    path: string(),
    user: string(),
    secretFile: string(),
    secretRef: LOCAL_OBJECT_REFERENCE,
    readOnly: boolean(),
  },
  { required: ['monitors'] },
);

export const CINDER_VOLUME_SOURCE = core(
  'CinderVolumeSource',
  {
    volumeID: string(),
    fsType: string(),
    readOnly: boolean(),
    secretRef: LOCAL_OBJECT_REFERENCE,
  },
  { required: ['volumeID'] },
);

export const FLEX_VOLUME_SOURCE = core(
  'FlexVolumeSource',
  {
    driver: string(),
    fsType: string(),
    secretRef: LOCAL_OBJECT_REFERENCE,
    readOnly: boolean(),
    options: map(string()),
  },
  { required: ['driver'] },
);

export const FLOCKER_VOLUME_SOURCE = core('FlockerVolumeSource', {
  datasetName: string(),
  datasetUUID: string(),
});

export const GCE_PERSISTENT_DISK_VOLUME_SOURCE = core(
  'GCEPersistentDiskVolumeSource',
  {
    pdName: string(),
    fsType: string(),
    partition: int32(),
    readOnly: boolean(),
  },
  { required: ['pdName'] },
);

export const GIT_REPO_VOLUME_SOURCE = core(
  'GitRepoVolumeSource',
  {
    repository: string(),
    revision: string(),
    directory: string(),
  },
  { required: ['repository'] },
);

export const GLUSTERFS_VOLUME_SOURCE = core(
  'GlusterfsVolumeSource',
  { endpoints: string(), path: string(), readOnly: boolean() },
  { required: ['endpoints', 'path'] },
);

export const PHOTON_PERSISTENT_DISK_VOLUME_SOURCE = core(
  'PhotonPersistentDiskVolumeSource',
  { pdID: string(), fsType: string() },
  { required: ['pdID'] },
);

export const PORTWORX_VOLUME_SOURCE = core(
  'PortworxVolumeSource',
  { volumeID: string(), fsType: string(), readOnly: boolean() },
  { required: ['volumeID'] },
);

export const QUOBYTE_VOLUME_SOURCE = core(
  'QuobyteVolumeSource',
  {
    registry: string(),
    volume: string(),
    readOnly: boolean(),
    user: string(),
    group: string(),
    tenant: string(),
  },
  { required: ['registry', 'volume'] },
);

export const RBD_VOLUME_SOURCE = core(
  'RBDVolumeSource',
  {
    monitors: atomicList(string()),
    image: string(),
    fsType: string(),
    pool: defaulted('rbd', string()),
    user: defaulted('admin', string()),
    keyring: defaulted('/etc/ceph/keyring', string()),
    secretRef: LOCAL_OBJECT_REFERENCE,
    readOnly: boolean(),
  },
  { required: ['monitors', 'image'] },
);

export const SCALE_IO_VOLUME_SOURCE = core(
  'ScaleIOVolumeSource',
  {
    gateway: string(),
    system: string(),
    secretRef: LOCAL_OBJECT_REFERENCE,
    sslEnabled: boolean(),
    protectionDomain: string(),
    storagePool: string(),
    storageMode: defaulted('ThinProvisioned', string()),
    volumeName: string(),
    fsType: defaulted('xfs', string()),
    readOnly: boolean(),
  },
  { required: ['gateway', 'system', 'secretRef'] },
);

export const STORAGE_OS_VOLUME_SOURCE = core('StorageOSVolumeSource', {
  volumeName: string(),
  volumeNamespace: string(),
  fsType: string(),
  readOnly: boolean(),
  secretRef: LOCAL_OBJECT_REFERENCE,
});

export const VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE = core(
  'VsphereVirtualDiskVolumeSource',
  {
    volumePath: string(),
    fsType: string(),
    storagePolicyName: string(),
    storagePolicyID: string(),
  },
  { required: ['volumePath'] },
);
