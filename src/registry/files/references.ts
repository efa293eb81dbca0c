/** Names of repositories and tags. */
import { RegistryError } from "./errors.ts";

const MOST_CHARACTERS = 255;
const COMPONENT = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const REPOSITORY = new RegExp(`^${COMPONENT}(?:/${COMPONENT})*$`);
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

export function checkRepository(name: string): string {
  // The length comes first: the expression takes time with what it reads.
  if (name.length > MOST_CHARACTERS || !REPOSITORY.test(name))
    throw new RegistryError(400, "NAME_INVALID", "invalid repository name", { name });
  return name;
}

export function checkTag(tag: string): string {
  if (!TAG.test(tag)) throw new RegistryError(400, "MANIFEST_INVALID", "invalid tag", { tag });
  return tag;
}

/** A name as one folder: `@` is in no repository's name. */
export function folderOf(repository: string): string {
  return repository.replaceAll("/", "@");
}

export function repositoryIn(folder: string): string {
  return folder.replaceAll("@", "/");
}
