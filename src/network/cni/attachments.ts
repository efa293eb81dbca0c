/**
 * Attachments and their results on disk, so that a runtime can detach them after a crash.
 *
 * 1. The record is written before the plugins are called, so that an interrupted attachment is found and undone.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "#api";
import type { Attachment } from "./plugin.ts";

export interface KeptAttachment extends Attachment {
  readonly network: string;
  /** The result of the last plugin; absent until all have succeeded. */
  readonly result?: JsonObject;
}

export class Attachments {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async keep(attachment: KeptAttachment): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = this.#path(attachment);
    await writeFile(`${path}.tmp`, JSON.stringify(attachment), { mode: 0o600 });
    await rename(`${path}.tmp`, path);
  }

  async find(
    attachment: Pick<KeptAttachment, "network" | "containerId" | "ifName">,
  ): Promise<KeptAttachment | undefined> {
    return readOrNothing(this.#path(attachment));
  }

  async forget(attachment: Pick<KeptAttachment, "network" | "containerId" | "ifName">): Promise<void> {
    await rm(this.#path(attachment), { force: true });
  }

  async all(): Promise<readonly KeptAttachment[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    const found = await Promise.all(
      names.filter((name) => name.endsWith(".json")).map((name) => readOrNothing(join(this.#folder, name))),
    );
    return found.filter((each) => each !== undefined);
  }

  #path({ network, containerId, ifName }: Pick<KeptAttachment, "network" | "containerId" | "ifName">): string {
    return join(this.#folder, `${[network, containerId, ifName].map(encodeURIComponent).join(",")}.json`);
  }
}

async function readOrNothing(path: string): Promise<KeptAttachment | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as KeptAttachment;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
