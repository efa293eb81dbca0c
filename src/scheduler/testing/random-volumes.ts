/**
 * Random claims, volumes and classes, and a Pod that uses some of them: claims that are bound, lost, terminating or
 * pending, zonal volumes, nodes with low volume limits.
 */
import type { core, storage } from "#api";
import type { Random } from "#base";
import type { PlainCluster } from "./plain/index.ts";
import { type RandomCluster, randomCluster } from "./random-cluster.ts";
import { chance, list, ZONE } from "./random-parts.ts";

const DRIVER = "disks.example.com";
const CLASSES = ["now", "later", "static", "zoned"] as const;

export function randomVolumes(random: Random): RandomCluster {
  const { cluster, pod } = randomCluster(random, { nodes: 5, pods: 6 });
  const persistentVolumes = list(random, 0, 6, (i) => randomVolume(random, `pv-${i}`));
  const persistentVolumeClaims = list(random, 1, 5, (i) => randomClaim(random, `c${i}`, persistentVolumes));
  const names = persistentVolumeClaims.map(({ metadata }) => metadata.name ?? "");
  const simple = (one: core.Pod): core.Pod => withClaims(bare(one), pickSome(random, names), random);
  return {
    pod: simple(pod),
    cluster: {
      ...cluster,
      pods: cluster.pods.map(simple),
      persistentVolumeClaims,
      persistentVolumes,
      storageClasses: storageClasses(),
      ...randomCsi(random, cluster),
      volumeAttachments: list(random, 0, 4, (i) => randomAttachment(random, `att-${i}`, cluster)),
    },
  };
}

/** A Pod with claims only, without other constraints. */
function bare(one: core.Pod): core.Pod {
  const { nodeName } = one.spec ?? {};
  return {
    ...one,
    metadata: { ...one.metadata, namespace: "default", uid: `default-${one.metadata.name}` },
    spec: { containers: [{ name: "c", image: "web:1" }], ...(nodeName === undefined ? {} : { nodeName }) },
  };
}

function pickSome(random: Random, names: readonly string[]): readonly string[] {
  const picked = list(random, 0, 2, () => random.pick(names));
  return [...new Set(chance(random, 0.05) ? [...picked, "missing"] : picked)];
}

function withClaims(one: core.Pod, claims: readonly string[], random: Random): core.Pod {
  const volumes: core.Volume[] = claims.map((claimName, i) => ({
    name: `v${i}`,
    persistentVolumeClaim: { claimName },
  }));
  if (chance(random, 0.15))
    volumes.push({
      name: "disk",
      gcePersistentDisk: { pdName: random.pick(["d1", "d2"]), readOnly: chance(random, 0.5) },
    });
  if (chance(random, 0.05)) volumes.push({ name: "scratch", ephemeral: {} });
  if (chance(random, 0.1)) volumes.push({ name: "ebs", awsElasticBlockStore: { volumeID: random.pick(["e1", "e2"]) } });
  return { ...one, spec: { ...one.spec, containers: one.spec?.containers ?? [], volumes } };
}

function storageClasses(): readonly storage.StorageClass[] {
  const made = (name: string, more: Partial<storage.StorageClass>): storage.StorageClass => ({
    metadata: { name, uid: `sc-${name}` },
    provisioner: DRIVER,
    volumeBindingMode: "WaitForFirstConsumer",
    ...more,
  });
  return [
    made("now", { volumeBindingMode: "Immediate" }),
    made("later", {}),
    made("static", { provisioner: "kubernetes.io/no-provisioner" }),
    made("zoned", { allowedTopologies: [{ matchLabelExpressions: [{ key: ZONE, values: ["z1", "z2"] }] }] }),
  ];
}

function randomVolume(random: Random, name: string): core.PersistentVolume {
  const zone = random.pick(["z1", "z2", "z3"]);
  const reserved = chance(random, 0.15) ? random.pick(["c0", "c1"]) : undefined;
  return {
    metadata: {
      name,
      uid: name,
      resourceVersion: "1",
      labels: chance(random, 0.2) ? { [ZONE]: chance(random, 0.3) ? "z1__z2" : zone } : {},
    },
    spec: {
      capacity: { storage: random.pick(["1Gi", "5Gi", "10Gi"]) },
      accessModes: chance(random, 0.8) ? ["ReadWriteOnce"] : ["ReadOnlyMany"],
      storageClassName: random.pick(CLASSES),
      csi: { driver: DRIVER, volumeHandle: name },
      ...(reserved === undefined ? {} : { claimRef: { namespace: "default", name: reserved } }),
      ...(chance(random, 0.6) ? { nodeAffinity: { required: randomReach(random, zone) } } : {}),
    },
    status: { phase: chance(random, 0.9) ? "Available" : "Released" },
  };
}

/** A zone, one or two hosts, or a complex node affinity. */
function randomReach(random: Random, zone: string): core.NodeSelector {
  const inZone = { matchExpressions: [{ key: ZONE, operator: "In" as const, values: [zone] }] };
  const values = list(random, 1, 2, () => `n${random.integer(4)}`);
  const onHost = { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In" as const, values }] };
  const named = { matchFields: [{ key: "metadata.name", operator: "In" as const, values: ["n0"] }] };
  return {
    nodeSelectorTerms: random.pick([
      [inZone],
      [onHost],
      [onHost],
      [inZone, onHost],
      [{ ...onHost, ...named }],
      [named],
    ]),
  };
}

function randomClaim(
  random: Random,
  name: string,
  volumes: readonly core.PersistentVolume[],
): core.PersistentVolumeClaim {
  const bound = volumes.length > 0 && chance(random, 0.45);
  const volumeName = chance(random, 0.1)
    ? "gone"
    : (random.pick(volumes.length > 0 ? volumes : [undefined])?.metadata.name ?? "gone");
  return {
    metadata: {
      name,
      namespace: "default",
      uid: `pvc-${name}`,
      resourceVersion: "1",
      annotations: {
        ...(bound ? { "pv.kubernetes.io/bind-completed": "yes" } : {}),
        ...(!bound && chance(random, 0.1) ? { "volume.kubernetes.io/selected-node": "n0" } : {}),
      },
      ...(chance(random, 0.03) ? { deletionTimestamp: "2030-01-01T00:00:00Z" } : {}),
    },
    spec: {
      accessModes: [chance(random, 0.15) ? "ReadWriteOncePod" : "ReadWriteOnce"],
      storageClassName: chance(random, 0.75)
        ? random.pick(["later", "static", "zoned"])
        : random.pick(["now", "unknown"]),
      resources: { requests: { storage: random.pick(["1Gi", "4Gi", "8Gi"]) } },
      ...(bound ? { volumeName } : {}),
    },
    status: { phase: bound ? (chance(random, 0.03) ? "Lost" : "Bound") : "Pending" },
  };
}

/** A volume that exists, or does not any more. */
function randomAttachment(random: Random, name: string, { nodes }: PlainCluster): storage.VolumeAttachment {
  return {
    metadata: { name, uid: name },
    spec: {
      attacher: chance(random, 0.9) ? DRIVER : "other.example.com",
      nodeName: random.pick(nodes).metadata.name ?? "",
      source: { persistentVolumeName: `pv-${random.integer(6)}` },
    },
    status: { attached: true },
  };
}

function randomCsi(random: Random, { nodes }: PlainCluster): Partial<PlainCluster> {
  return {
    csiNodes: nodes
      .filter(() => chance(random, 0.7))
      .map(({ metadata }) => ({
        metadata: { name: metadata.name ?? "" },
        spec: {
          drivers: [
            {
              name: DRIVER,
              nodeID: metadata.name ?? "",
              ...(chance(random, 0.7) ? { allocatable: { count: random.integer(4) } } : {}),
            },
          ],
        },
      })),
    csiDrivers: [{ metadata: { name: DRIVER }, spec: { storageCapacity: chance(random, 0.4) } }],
    csiStorageCapacities: list(random, 0, 3, (i) => ({
      metadata: { name: `cap-${i}`, namespace: "kube-system" },
      storageClassName: random.pick(CLASSES),
      capacity: random.pick(["2Gi", "5Gi", "20Gi"]),
      ...(chance(random, 0.3) ? { maximumVolumeSize: "4Gi" } : {}),
      ...(chance(random, 0.8) ? { nodeTopology: { matchLabels: { [ZONE]: random.pick(["z1", "z2"]) } } } : {}),
    })),
  };
}
