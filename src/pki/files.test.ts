import { chmod, mkdir, mkdtempDisposable, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PkiError } from "./errors.ts";
import { ensurePrivateFolder, readIfPresent, writeFiles } from "./files.ts";

const folder = () => mkdtempDisposable(join(tmpdir(), "k8ts-pki-"));
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe("writing files", () => {
  it("replaces them, with the mode asked for, and leaves nothing else", async () => {
    await using dir = await folder();
    const [key, cert] = [join(dir.path, "a.key"), join(dir.path, "a.crt")];
    await writeFile(key, "old", { mode: 0o666 });
    await chmod(key, 0o666);
    await writeFiles([
      { path: key, text: "new", mode: 0o600 },
      { path: cert, text: "cert", mode: 0o644 },
    ]);
    expect(await readFile(key, "utf8")).toBe("new");
    expect([await modeOf(key), await modeOf(cert)]).toEqual([0o600, 0o644]);
    expect((await readdir(dir.path)).sort()).toEqual(["a.crt", "a.key"]);
  });

  it("changes none of them when one cannot be written", async () => {
    await using dir = await folder();
    const key = join(dir.path, "a.key");
    await writeFile(key, "old");
    const writes = [
      { path: key, text: "new", mode: 0o600 },
      { path: join(dir.path, "missing", "a.crt"), text: "cert", mode: 0o644 },
    ];
    await expect(writeFiles(writes)).rejects.toThrow(
      new PkiError(`Cannot write ${join(dir.path, "missing", "a.crt")}: its folder does not exist.`),
    );
    expect(await readFile(key, "utf8")).toBe("old");
    expect(await readdir(dir.path)).toEqual(["a.key"]);
  });

  it("cleans up when a folder is in the way", async () => {
    await using dir = await folder();
    await mkdir(join(dir.path, "a.key", "x"), { recursive: true });
    await expect(writeFiles([{ path: join(dir.path, "a.key"), text: "new", mode: 0o600 }])).rejects.toThrow(PkiError);
    expect(await readdir(dir.path)).toEqual(["a.key"]);
  });
});

describe("reading and folders", () => {
  it("tells a missing file from one that cannot be read", async () => {
    await using dir = await folder();
    expect(await readIfPresent(join(dir.path, "none"))).toBeUndefined();
    await expect(readIfPresent(dir.path)).rejects.toThrow(`Cannot read ${dir.path}: it is a folder.`);
  });

  it("makes folders private, and leaves one that is there", async () => {
    await using dir = await folder();
    const deep = join(dir.path, "a", "b");
    await ensurePrivateFolder(deep);
    expect([await modeOf(join(dir.path, "a")), await modeOf(deep)]).toEqual([0o700, 0o700]);
    await chmod(deep, 0o755);
    await ensurePrivateFolder(deep);
    expect(await modeOf(deep)).toBe(0o755);
  });

  it("refuses a file in the place of a folder", async () => {
    await using dir = await folder();
    const file = join(dir.path, "file");
    await writeFile(file, "");
    await expect(ensurePrivateFolder(file)).rejects.toThrow(`Cannot make the folder ${file}: a file is in its place.`);
  });
});
