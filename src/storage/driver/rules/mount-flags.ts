/**
 * Mount options that the driver passes on where it mounts for a node that is not trusted. Pure.
 *
 * 1. What is not known is refused: options name other devices (`journal_path`, `logdev`, `device`), let a damaged file
 *    system stop the machine (`errors=panic`), or make mount(8) run programs and mount something else.
 */

const PLAIN = new Set(
  (
    "ro rw nosuid nodev noexec exec async sync dirsync atime noatime diratime nodiratime relatime norelatime " +
    "strictatime nostrictatime lazytime nolazytime discard nodiscard barrier nobarrier acl noacl user_xattr " +
    "nouser_xattr delalloc nodelalloc auto_da_alloc noauto_da_alloc nouuid inode32 inode64 largeio nolargeio swalloc " +
    "ikeep noikeep autodefrag noautodefrag ssd nossd datacow nodatacow datasum nodatasum compress compress-force"
  ).split(" "),
);

const WITH_VALUE: readonly RegExp[] = [
  /^commit=\d{1,6}$/,
  /^data=(ordered|writeback|journal)$/,
  /^errors=(continue|remount-ro)$/,
  /^log(bufs|bsize)=\d{1,7}k?$/,
  /^allocsize=\d{1,7}[kmg]?$/i,
  /^compress(-force)?=(no|none|zlib|lzo|zstd)(:\d{1,2})?$/,
  // SELinux: the labels of its files. A comma needs quotes.
  /^context=([\w.:-]+|"[\w.:,-]+")$/,
];

export function isKnownMountFlag(flag: string): boolean {
  return PLAIN.has(flag) || WITH_VALUE.some((pattern) => pattern.test(flag));
}
