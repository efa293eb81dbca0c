/** `k8ts members`: the etcd members of a cluster whose etcd k8ts runs, while it runs. */
import { Command } from "commander";
import { ClusterError, type DataDir, etcdTools } from "#cluster";
import type { EtcdMembers, StoreMember } from "#store";
import { textTable } from "../inspect/text-table.ts";
import { sharedCertificates } from "../nodes/share-certificates.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";

export function membersCommand(): Command {
  const command = new Command("members").description("show and change the members of the etcd that k8ts runs");
  const sub = (name: string, description: string) =>
    new Command(name).description(description).addOption(dataDirOption());
  command.addCommand(
    sub("list", "the members and their health").action((options: DataDirOption) =>
      withMembers(options, async (members) => {
        process.stdout.write(shown(await members.list()));
      }),
    ),
    { isDefault: true },
  );
  command.addCommand(
    sub("remove", "remove a member, by name or id: its machine is gone, or leaves the control plane")
      .argument("<member>", "its name or id")
      .action((given: string, options: DataDirOption) => withMembers(options, (members) => remove(members, given))),
  );
  command.addCommand(
    sub("defragment", "free the space of compacted revisions: one member after the other, the leader last").action(
      (options: DataDirOption) =>
        withMembers(options, async (members) => {
          const before = sizeOf(await members.list());
          await members.defragment();
          process.stdout.write(`Defragmented: ${before} bytes before, ${sizeOf(await members.list())} after.\n`);
        }),
    ),
  );
  return command;
}

/** `k8ts upload-certs`: lets another machine become a control plane. */
export function uploadCertsCommand(): Command {
  return new Command("upload-certs")
    .description("let other machines become control planes for two hours: prints the certificate key")
    .addOption(dataDirOption())
    .action(async (options: DataDirOption) => {
      const key = await sharedCertificates(dataDirOf(options));
      process.stdout.write(
        `Another machine becomes a control plane within two hours with its join command and:\n  --control-plane --certificate-key ${key}\nKeep the key secret: with it, a token for joining opens the cluster's keys.\n`,
      );
    });
}

async function withMembers(options: DataDirOption, work: (members: EtcdMembers) => Promise<void>): Promise<void> {
  const members = await openMembers(dataDirOf(options));
  try {
    await work(members);
  } finally {
    await members.close();
  }
}

async function openMembers(dir: DataDir): Promise<EtcdMembers> {
  const { memberOf } = await etcdTools();
  return (await memberOf(dir)).open();
}

async function remove(members: EtcdMembers, given: string): Promise<void> {
  const all = await members.list();
  const found = all.find(({ id, name }) => id === given || name === given);
  if (found === undefined)
    throw new ClusterError(`etcd has no member ${given}: it has ${all.map(({ name, id }) => name || id).join(", ")}.`);
  if (all.length === 1) throw new ClusterError("The only member cannot be removed: `k8ts reset` erases a cluster.");
  const left = all.filter(({ id, isLearner }) => id !== found.id && !isLearner);
  const healthy = left.filter((member) => member.healthy).length;
  if (healthy <= left.length / 2)
    throw new ClusterError(
      `Without ${given}, only ${healthy} of ${left.length} members would be healthy: etcd would stop. Bring the others back first.`,
    );
  await members.remove(found.id);
  process.stdout.write(`Removed ${found.name || found.id}: ${left.length} members are left.\n`);
}

function shown(members: readonly StoreMember[]): string {
  const rows = members.map((member) => {
    const role = member.isLeader ? "leader" : member.isLearner ? "learner" : "follower";
    const { id, name, clientUrls, version = "", dbSizeBytes, raftIndex, healthy, problem = "" } = member;
    const size = dbSizeBytes === undefined ? "" : `${(dbSizeBytes / 1e6).toFixed(1)} MB`;
    return [
      name,
      id,
      role,
      healthy ? "yes" : `no: ${problem}`,
      clientUrls.join(),
      version,
      size,
      String(raftIndex ?? ""),
    ];
  });
  return textTable([["NAME", "ID", "ROLE", "HEALTHY", "CLIENT URL", "VERSION", "SIZE", "RAFT INDEX"], ...rows]);
}

function sizeOf(members: readonly StoreMember[]): number {
  return members.reduce((sum, { dbSizeBytes = 0 }) => sum + dbSizeBytes, 0);
}
