/**
 * Loaded before a service (`--import`): notes every change below the folder UNSYNCED_ROOT in the file UNSYNCED_LOG, and
 * every sync once it has ended. unsynced.ts makes from the notes what a power cut leaves. The bytes stay reachable by
 * second names in UNSYNCED_BYTES. A way of writing that this file does not know throws, so that nothing escapes.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { isMainThread } from 'node:worker_threads';

const {
  UNSYNCED_ROOT: root = '',
  UNSYNCED_LOG: logFile = '',
  UNSYNCED_BYTES: bytesFolder = '',
} = process.env;
const real = { ...fs };
const realOpen = fs.promises.open;
const realPromises = { ...fs.promises };
const log = real.openSync(logFile, 'a');
let count = 0;

function note(entry) {
  real.writeSync(log, `${JSON.stringify(entry)}\n`);
  count += 1;
  return count;
}

/** The path below the root. Undefined: the file is none of the test. */
function below(file) {
  if (typeof file !== 'string') return undefined;
  const relative = path.relative(root, path.resolve(file));
  return relative.startsWith('..') ? undefined : relative;
}

/** The tracked open files and folders, by their descriptors. */
const opened = new Map();

function register(file, inode) {
  try {
    real.linkSync(file, path.join(bytesFolder, String(inode)));
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

function begun(file, relative, descriptor, wasThere) {
  const { ino, size } = real.fstatSync(descriptor);
  if (!wasThere) {
    register(file, ino);
    note({ set: relative, ino });
  }
  opened.set(descriptor, { ino, size });
}

const isReading = (flags) => flags === undefined || flags === 'r' || flags === real.constants.O_RDONLY;

function open(file, flags, mode) {
  const relative = below(file);
  if (relative === undefined || (isReading(flags) && !real.statSync(file).isDirectory()))
    return real.openSync(file, flags, mode);
  if (isReading(flags)) {
    const descriptor = real.openSync(file, flags, mode);
    opened.set(descriptor, { folder: relative });
    return descriptor;
  }
  if (!['w', 'a', 'wx'].includes(flags)) throw new Error(`the power cut knows no flags ${String(flags)}`);
  const wasThere = real.existsSync(file);
  const descriptor = real.openSync(file, flags, mode);
  begun(file, relative, descriptor, wasThere);
  return descriptor;
}

/** What a sync that begins now has on disk once it ends. */
function syncOf(descriptor) {
  const one = opened.get(descriptor);
  if (one === undefined) return undefined;
  return one.folder === undefined
    ? { sync: one.ino, bytes: real.fstatSync(descriptor).size }
    : { syncFolder: one.folder, upTo: count };
}

function synced(descriptor, sync) {
  const entry = syncOf(descriptor);
  sync(descriptor);
  if (entry) note(entry);
}

function syncedLater(sync) {
  return (descriptor, done) => {
    const entry = syncOf(descriptor);
    sync(descriptor, (error) => {
      if (!error && entry) note(entry);
      done(error);
    });
  };
}

function makeFolder(folder, options) {
  const relative = below(folder);
  const made = real.mkdirSync(folder, options);
  if (relative === undefined || made === undefined) return made;
  const all = [];
  for (let each = path.resolve(folder); ; each = path.dirname(each)) {
    all.unshift(each);
    if (each === path.resolve(made)) break;
  }
  for (const each of all) if (below(each) !== undefined) note({ set: below(each), folder: true });
  return made;
}

function writeFile(file, text, options = {}) {
  const settings = typeof options === 'string' ? {} : options;
  const descriptor = open(file, settings.flag ?? 'w', settings.mode);
  try {
    real.writeFileSync(descriptor, text);
    if (settings.flush === true) synced(descriptor, real.fsyncSync);
  } finally {
    close(descriptor);
  }
}

function close(descriptor) {
  opened.delete(descriptor);
  real.closeSync(descriptor);
}

function remove(file, options = {}) {
  const relative = below(file);
  if (relative === undefined) {
    real.rmSync(file, options);
    return;
  }
  if (options.recursive === true) throw new Error('the power cut knows no removal of folders');
  const wasThere = real.existsSync(file);
  real.rmSync(file, options);
  if (wasThere) note({ remove: relative });
}

function rename(from, to) {
  const [first, second] = [below(from), below(to)];
  const { ino } = real.statSync(from);
  real.renameSync(from, to);
  if (first !== undefined && second !== undefined) note({ set: second, ino, instead: first });
}

function truncate(file, bytes) {
  const relative = below(file);
  const descriptor = real.openSync(file, 'r+');
  real.ftruncateSync(descriptor, bytes);
  real.closeSync(descriptor);
  if (relative !== undefined) note({ cut: real.statSync(file).ino, bytes });
}

/** A FileHandle whose syncs are noted. */
async function openLater(file, flags, mode) {
  if (below(file) === undefined) return realOpen(file, flags, mode);
  const wasThere = real.existsSync(file);
  const isFolder = wasThere && real.statSync(file).isDirectory();
  const handle = await realOpen(file, flags, mode);
  if (isFolder) opened.set(handle.fd, { folder: below(file) });
  else if (!isReading(flags)) begun(file, below(file), handle.fd, wasThere);
  else return handle;
  for (const name of ['sync', 'datasync']) {
    const sync = handle[name].bind(handle);
    handle[name] = async () => {
      const entry = syncOf(handle.fd);
      await sync();
      if (entry) note(entry);
    };
  }
  const end = handle.close.bind(handle);
  handle.close = async () => {
    opened.delete(handle.fd);
    await end();
  };
  return handle;
}

async function writeFileLater(file, data, options = {}) {
  if (below(file) === undefined) return realPromises.writeFile(file, data, options);
  const handle = await openLater(file, options.flag ?? 'w', options.mode);
  try {
    await handle.writeFile(data);
    if (options.flush === true) await handle.sync();
  } finally {
    await handle.close();
  }
  return undefined;
}

/** Every other call that changes a file must not be used below the root. */
function unknown(name, call) {
  return (...all) => {
    if (all.some((one) => below(one) !== undefined)) throw new Error(`the power cut knows no fs.${name}`);
    return call(...all);
  };
}

if (isMainThread) {
  Object.assign(fs, {
    openSync: open,
    closeSync: close,
    fsyncSync: (descriptor) => synced(descriptor, real.fsyncSync),
    fdatasyncSync: (descriptor) => synced(descriptor, real.fdatasyncSync),
    fsync: syncedLater(real.fsync),
    fdatasync: syncedLater(real.fdatasync),
    mkdirSync: makeFolder,
    writeFileSync: (file, ...more) =>
      below(file) === undefined ? real.writeFileSync(file, ...more) : writeFile(file, ...more),
    rmSync: remove,
    renameSync: rename,
    truncateSync: truncate,
  });
  Object.assign(fs.promises, {
    open: openLater,
    writeFile: writeFileLater,
    mkdir: async (folder, options) => makeFolder(folder, options),
    rm: async (file, options) => remove(file, options),
  });
  const names =
    'appendFile copyFile cp createWriteStream link mkdtemp open rename rm rmdir symlink truncate unlink';
  for (const name of names.split(' ')) {
    const sync = `${name}Sync`;
    for (const [place, own] of [
      [fs, name],
      [fs, sync],
      [fs.promises, name],
    ])
      if (typeof place[own] === 'function' && place[own] === (place === fs ? real : realPromises)[own])
        place[own] = unknown(own, place[own]);
  }
  // createReadStream opens by itself, and only reads.
  fs.open = real.open;
  syncBuiltinESMExports();
}
