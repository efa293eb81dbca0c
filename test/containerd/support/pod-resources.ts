/** A client of the PodResources API on its node: prints what List says. */
import { realClock } from "#base";
import { openChannel } from "#grpc";
import { podResourcesMethods } from "../../../src/kubelet/pod-resources/index.ts";

const channel = openChannel("/var/lib/kubelet/pod-resources/kubelet.sock", { clock: realClock(), timeoutMs: 10_000 });
const { podResources } = await channel.call(podResourcesMethods().List, {});
process.stdout.write(JSON.stringify(podResources));
channel.close();
