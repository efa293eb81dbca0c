/** The static token file: `token,user,uid[,"group1,group2"]`, one line for each token. */
import { hash } from "node:crypto";
import type { UserInfo } from "../identity/user.ts";
import type { TokenAuthenticator } from "./verdict.ts";

export class TokenFileError extends Error {
  override readonly name = "TokenFileError";
}

export function parseTokenFile(text: string, file: string): ReadonlyMap<string, UserInfo> {
  const users = new Map<string, UserInfo>();
  text.split(/\r?\n/).forEach((line, i) => {
    if (line.trim() === "" || line.startsWith("#")) return;
    const [token = "", name = "", uid = "", groups = ""] = csvFields(line);
    if (token === "" || name === "" || uid === "") {
      throw new TokenFileError(
        `${file}, line ${i + 1}: a token, a user name and a uid are needed, separated by commas.`,
      );
    }
    users.set(token, {
      name,
      uid,
      groups: groups
        .split(",")
        .map((group) => group.trim())
        .filter((group) => group !== ""),
    });
  });
  return users;
}

function csvFields(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    (quoted?.replaceAll('""', '"') ?? plain ?? "").trim(),
  );
}

/** Looks a token up by its digest: the time depends on its length alone. */
export function staticTokens(users: ReadonlyMap<string, UserInfo>): TokenAuthenticator {
  const byDigest = new Map([...users].map(([token, user]) => [digest(token), user]));
  return async (token) => {
    const user = byDigest.get(digest(token));
    return user && { user };
  };
}

function digest(token: string): string {
  return hash("sha256", token, "base64");
}
