/** The images that every real node has from the start, so that Pods run without a registry. */

import type { Machine } from "./elf.ts";
import { imageArchive } from "./oci-image.ts";
import { pauseProgram } from "./pause.ts";
import type { TarEntry } from "./tar.ts";

export const PAUSE_IMAGE = "localhost/k8ts-pause:1";
export const BUSYBOX_IMAGE = "localhost/busybox:1";

const SEARCH_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export function pauseImage(machine: Machine): Buffer {
  return imageArchive({
    name: PAUSE_IMAGE,
    machine,
    files: [{ path: "pause", type: "file", content: pauseProgram(machine), mode: 0o755 }],
    entrypoint: ["/pause"],
  });
}

/** From a static busybox and the names of its applets. */
export function busyboxImage(machine: Machine, busybox: Uint8Array, applets: readonly string[]): Buffer {
  const directory = (path: string, mode = 0o755): TarEntry => ({ path, type: "directory", mode });
  const text = (path: string, content: string): TarEntry => ({ path, type: "file", content: Buffer.from(content) });
  return imageArchive({
    name: BUSYBOX_IMAGE,
    machine,
    files: [
      directory("bin"),
      { path: "bin/busybox", type: "file", content: busybox, mode: 0o755 },
      ...applets
        .filter((applet) => applet !== "busybox")
        .map((applet): TarEntry => ({ path: `bin/${applet}`, type: "symlink", target: "busybox" })),
      directory("etc"),
      text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n"),
      text("etc/group", "root:x:0:\nnogroup:x:65534:\n"),
      // A static program cannot load other NSS modules.
      text("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
      directory("home"),
      directory("root", 0o700),
      directory("tmp", 0o1777),
      directory("usr"),
      { path: "usr/bin", type: "symlink", target: "../bin" },
      directory("var"),
      directory("var/run"),
    ],
    command: ["sh"],
    env: [SEARCH_PATH],
  });
}
