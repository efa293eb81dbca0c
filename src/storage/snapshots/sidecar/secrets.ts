/** The Secrets that drivers get with a call. */
import { decodeBase64, type KubeObject, kinds } from "#api";
import type { Client } from "#client";
import type { SecretReference } from "../objects/secret-reference.ts";
import { messageOf } from "./answers.ts";
import type { Texts } from "./calls.ts";

export interface SecretAnnotations {
  readonly name: string;
  readonly namespace: string;
}

export async function readSecret(client: Client, ref: SecretReference, signal: AbortSignal): Promise<Texts> {
  const { namespace, name } = ref;
  try {
    const { data = {} } = await client.of(kinds.Secret).in(namespace).get(name, { signal });
    const texts = Object.entries(data).map(([key, value]) => [key, Buffer.from(decodeBase64(value)).toString()]);
    return Object.fromEntries(texts);
  } catch (error) {
    if (signal.aborted) throw error;
    const words = `error getting secret ${name} in namespace ${namespace}: ${messageOf(error)}`;
    throw new Error(words, { cause: error });
  }
}

/** The Secret that the annotations of a content name; none if they are absent. `word`: what the content is of. */
export async function annotatedSecret(
  client: Client,
  { metadata }: KubeObject,
  keys: SecretAnnotations,
  word: string,
  signal: AbortSignal,
): Promise<Texts> {
  const name = metadata.annotations?.[keys.name];
  const namespace = metadata.annotations?.[keys.namespace];
  if (name === undefined || namespace === undefined) return {};
  if (name === "" || namespace === "") {
    const words = "err: secret name or namespace not specified";
    throw new Error(`cannot retrieve secrets for ${word} ${JSON.stringify(metadata.name)}, ${words}`);
  }
  try {
    return await readSecret(client, { name, namespace }, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Error(`cannot get credentials for ${word} ${JSON.stringify(metadata.name)}`, { cause: error });
  }
}
