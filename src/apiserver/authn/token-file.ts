/** The static token file: `token,user,uid[,"group1,group2"]`, one line for each token. */
import type { UserInfo } from "./user.ts";

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
