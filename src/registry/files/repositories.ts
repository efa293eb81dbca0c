/**
 * What each repository has: blobs, manifests, tags, and which manifests refer to which.
 *
 *     repositories/library@web/blobs/sha256:3f…        empty
 *                              manifests/sha256:9c…    its media type
 *                              tags/1.0                the digest of a manifest
 *                              referrers/sha256:9c…/sha256:77…    a descriptor
 *
 * 1. A repository has a blob only if it was pushed or mounted there: a digest alone gives no access to the bytes.
 * 2. Bytes that no repository has any more are removed. Adding and removing of one digest take turns.
 */
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { KeyedLock } from "#base";
import type { Blobs } from "./blobs.ts";
import { type Digest, parseDigest } from "./digests.ts";
import { folderOf, repositoryIn } from "./references.ts";
import { entriesIn, readIfThere, unlessMissing, writeWhole } from "./small-files.ts";

type Content = "blobs" | "manifests";

/** What a referrer says about itself. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export class Repositories {
  readonly #dir: string;
  readonly #blobs: Blobs;
  readonly #lock = new KeyedLock();

  constructor(dir: string, blobs: Blobs) {
    this.#dir = dir;
    this.#blobs = blobs;
  }

  names(): Promise<string[]> {
    return entriesIn(this.#dir).then((folders) => folders.map(repositoryIn).sort());
  }

  async exists(repository: string): Promise<boolean> {
    return stat(this.#path(repository)).then(() => true, unlessMissing(false));
  }

  async hasBlob(repository: string, digest: Digest): Promise<boolean> {
    return (await readIfThere(this.#path(repository, "blobs", digest.text))) !== undefined;
  }

  /** A repository that has the blob. */
  async ownerOf(digest: Digest): Promise<string | undefined> {
    for (const name of await this.names()) if (await this.hasBlob(name, digest)) return name;
    return undefined;
  }

  /** `provide` sees to it that the bytes are there. */
  addBlob(repository: string, digest: Digest, provide: () => Promise<void>): Promise<void> {
    return this.#lock.run(digest.text, async () => {
      await provide();
      await writeWhole(this.#path(repository, "blobs", digest.text), "");
    });
  }

  /** False if the repository does not have it. */
  removeBlob(repository: string, digest: Digest): Promise<boolean> {
    return this.#remove(repository, "blobs", digest);
  }

  async mediaType(repository: string, digest: Digest): Promise<string | undefined> {
    return readIfThere(this.#path(repository, "manifests", digest.text));
  }

  addManifest(repository: string, digest: Digest, mediaType: string, bytes: Uint8Array): Promise<void> {
    return this.#lock.run(digest.text, async () => {
      await this.#blobs.put(bytes, digest);
      await writeWhole(this.#path(repository, "manifests", digest.text), mediaType);
    });
  }

  /** With the tags that name it. False if the repository does not have it. */
  async removeManifest(repository: string, digest: Digest): Promise<boolean> {
    if (!(await this.#remove(repository, "manifests", digest))) return false;
    for (const tag of await this.tags(repository)) {
      if ((await this.tagged(repository, tag))?.text === digest.text) await this.removeTag(repository, tag);
    }
    return true;
  }

  tags(repository: string): Promise<string[]> {
    return entriesIn(this.#path(repository, "tags"));
  }

  async tagged(repository: string, tag: string): Promise<Digest | undefined> {
    const text = await readIfThere(this.#path(repository, "tags", tag));
    return text === undefined ? undefined : parseDigest(text);
  }

  async tag(repository: string, tag: string, digest: Digest): Promise<void> {
    await writeWhole(this.#path(repository, "tags", tag), digest.text);
  }

  /** False if there is no such tag. */
  async removeTag(repository: string, tag: string): Promise<boolean> {
    return rm(this.#path(repository, "tags", tag)).then(() => true, unlessMissing(false));
  }

  async addReferrer(repository: string, subject: Digest, descriptor: Descriptor): Promise<void> {
    const path = this.#path(repository, "referrers", subject.text, descriptor.digest);
    await writeWhole(path, JSON.stringify(descriptor));
  }

  async removeReferrer(repository: string, subject: Digest, referrer: Digest): Promise<void> {
    await rm(this.#path(repository, "referrers", subject.text, referrer.text), { force: true });
  }

  async referrers(repository: string, subject: Digest): Promise<Descriptor[]> {
    const folder = this.#path(repository, "referrers", subject.text);
    const texts = await Promise.all((await entriesIn(folder)).map((name) => readIfThere(join(folder, name))));
    return texts.flatMap((text) => (text === undefined ? [] : [JSON.parse(text) as Descriptor]));
  }

  #remove(repository: string, content: Content, digest: Digest): Promise<boolean> {
    return this.#lock.run(digest.text, async () => {
      const removed = await rm(this.#path(repository, content, digest.text)).then(() => true, unlessMissing(false));
      if (removed && !(await this.#isHad(digest))) await this.#blobs.remove(digest);
      return removed;
    });
  }

  async #isHad(digest: Digest): Promise<boolean> {
    for (const name of await this.names()) {
      if (await this.hasBlob(name, digest)) return true;
      if ((await this.mediaType(name, digest)) !== undefined) return true;
    }
    return false;
  }

  #path(repository: string, ...parts: readonly string[]): string {
    return join(this.#dir, folderOf(repository), ...parts);
  }
}
