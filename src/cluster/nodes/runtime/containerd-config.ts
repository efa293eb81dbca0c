/** containerd's configuration for one node. Pure. */
import { PAUSE_IMAGE } from "../../images/index.ts";
import type { Machine } from "../machine/machine.ts";
import { REGISTRY_HOSTS } from "../site/mirrors.ts";
import type { NodeFiles } from "../site/names.ts";

/** Plugins that need disks or services that a node does not have. */
const NOT_NEEDED = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.internal.v1.tracing",
  "io.containerd.tracing.processor.v1.otlp",
];

/** The values in our configuration file. */
export function snapshotterIn(config: string): string {
  return /^\s*snapshotter = "(\w+)"$/m.exec(config)?.[1] ?? "overlayfs";
}

export function containerdConfig(node: NodeFiles, { cniBinDir, canLowerOomScore, snapshotter }: Machine): string {
  const cri = `plugins."io.containerd.grpc.v1.cri"`;
  const text = (value: string) => JSON.stringify(value);
  return `version = 2
root = ${text(node.containerdRoot)}
state = ${text(node.stateDir)}
disabled_plugins = ${JSON.stringify(NOT_NEEDED)}

[grpc]
  address = ${text(node.socket)}

[plugins."io.containerd.internal.v1.opt"]
  path = ${text(node.optDir)}

[${cri}]
  sandbox_image = ${text(PAUSE_IMAGE)}
  # Without CAP_SYS_RESOURCE no sandbox would start.
  restrict_oom_score_adj = ${!canLowerOomScore}
  # So that all that is mounted lies below the node's own folders.
  netns_mounts_under_state_dir = true
  # The node's own loopback: its kubelet passes streams on.
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"

  [${cri}.cni]
    bin_dir = ${text(cniBinDir)}
    conf_dir = ${text(node.cniDir)}

  [${cri}.registry]
    config_path = ${text([node.registryDir, node.compiledRegistryDir, REGISTRY_HOSTS].join(":"))}

  [${cri}.containerd]
    snapshotter = ${text(snapshotter)}

    [${cri}.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"

      [${cri}.containerd.runtimes.runc.options]
        SystemdCgroup = false
        Root = ${text(node.runcRoot)}
`;
}
