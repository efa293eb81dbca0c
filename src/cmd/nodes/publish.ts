/**
 * `k8ts publish` and `k8ts unpublish`: ports of this machine that lead to Services of a running cluster.
 *
 *     k8ts publish 8080:web/80 ══► publish.json ···► the running cluster ══► published.json ···► the command returns
 */
import { Command } from "commander";
import { type Clock, realClock } from "#base";
import { ClusterError, type DataDir, findRunning, nodeTools, type OpenDoor, type Publication } from "#cluster";
import { NO_CONTAINERS, publications } from "../options/publish.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";

const POLL_MS = 50;
const TIMEOUT_MS = 15_000;

export function publishCommand(): Command {
  return new Command("publish")
    .description(
      "list the ports of this machine that lead into the cluster, or add some: 8080:web/80, 8080:shop/web:80",
    )
    .argument("[port:service/port...]", "[ADDRESS:]PORT:SERVICE/PORT or [ADDRESS:]PORT:NAMESPACE/SERVICE:PORT[/udp]")
    .addOption(dataDirOption())
    .action(async (words: readonly string[], options: DataDirOption) => {
      const dir = dataDirOf(options);
      const wanted = await publications(words);
      const known = await doorsOf(dir);
      if (wanted.length === 0) {
        process.stdout.write(doorsTable(known));
        return;
      }
      const { addWanted } = await nodeTools();
      await addWanted(dir, wanted);
      const doors = await changed(dir, realClock(), (doors) =>
        wanted.every((each) => placesOf(each, doors).length > 0),
      );
      const places = wanted.flatMap((each) => placesOf(each, doors));
      for (const { at, to, problem } of places)
        if (problem === undefined) process.stdout.write(`${at} leads to ${to}.\n`);
      const failed = places.filter(({ problem }) => problem !== undefined);
      if (failed.length > 0)
        throw new ClusterError(
          `${failed.map(({ at, problem }) => `${at}: ${problem}`).join("; ")}. It is tried again until \`k8ts unpublish\`.`,
        );
    });
}

export function unpublishCommand(): Command {
  return new Command("unpublish")
    .description("close ports of this machine that were published: 8080, or as they were given")
    .argument("<port...>", "a port of this machine, or PORT:SERVICE/PORT")
    .addOption(dataDirOption())
    .action(async (words: readonly string[], options: DataDirOption) => {
      const dir = dataDirOf(options);
      const { isSamePlace, publicationText, readWanted, removeWanted } = await nodeTools();
      const known = await readWanted(dir);
      const given = words.filter((word) => !/^\d+$/.test(word));
      const named = await publications(given);
      const isUnwanted = (each: Publication) =>
        words.includes(String(each.hostPort)) ||
        named.some((other) => isSamePlace(each, other) && publicationText(each) === publicationText(other));
      const missing = words.find(
        (word) => !known.some((each) => isUnwanted(each) && isMeant(word, each, named, given)),
      );
      if (missing !== undefined)
        throw new ClusterError(`${missing} is not published: \`k8ts publish\` lists all ports.`);
      const removed = await removeWanted(dir, isUnwanted);
      if ((await findRunning(dir)).running)
        await changed(dir, realClock(), (doors) => removed.every((each) => placesOf(each, doors).length === 0));
      for (const each of removed) process.stdout.write(`${publicationText(each)} is no longer published.\n`);
    });
}

function isMeant(word: string, each: Publication, named: readonly Publication[], given: readonly string[]): boolean {
  const at = given.indexOf(word);
  return at < 0 ? word === String(each.hostPort) : named[at]?.hostPort === each.hostPort;
}

/** The doors of one publication. */
function placesOf({ hostPort, address, namespace, service, port, protocol }: Publication, doors: readonly OpenDoor[]) {
  const to = `${namespace}/${service}:${port}`;
  return doors.filter((door) => {
    if (door.kind !== "published" || door.to !== to || door.protocol !== protocol) return false;
    const [, host = "", at = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(door.at) ?? [];
    return Number(at) === hostPort && (address === undefined || address === host);
  });
}

async function doorsOf(dir: DataDir): Promise<readonly OpenDoor[]> {
  if (!(await findRunning(dir)).running) throw new ClusterError(`No cluster is running in ${dir.path}.`);
  const { readDoors } = await nodeTools();
  const doors = await readDoors(dir);
  if (doors === undefined) throw new ClusterError(`In this cluster ${NO_CONTAINERS}.`);
  return doors;
}

async function changed(
  dir: DataDir,
  clock: Clock,
  isDone: (doors: readonly OpenDoor[]) => boolean,
): Promise<readonly OpenDoor[]> {
  const deadline = clock.monotonic() + TIMEOUT_MS;
  for (;;) {
    const doors = await doorsOf(dir);
    if (isDone(doors)) return doors;
    if (clock.monotonic() >= deadline)
      throw new ClusterError(`The cluster has not changed its ports within ${TIMEOUT_MS / 1000} s; see ${dir.log}.`);
    await clock.sleep(POLL_MS);
  }
}

export function doorsTable(doors: readonly OpenDoor[]): string {
  const rows = [
    ["ADDRESS", "PROTOCOL", "KIND", "LEADS TO", "STATUS"],
    ...doors.map(({ at, protocol, kind, to, problem }) => [at, protocol, kind, to, problem ?? "open"]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd((widths[column] ?? 0) + 2)).join(""));
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}
