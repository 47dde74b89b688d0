/**
 * Makes a container image (OCI image layout 1.0) without an engine and without a registry: one layer with this Node and
 * the libraries that it needs, one with the package, and one with the folder of the data. Only on Linux.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** The id of a user without rights. Images without a shell have the same one. */
const user = 65_532;

const texts = {
  'etc/passwd': `root:x:0:0:root:/root:/sbin/nologin\ndarkroom:x:${user}:${user}:darkroom:/data:/sbin/nologin\n`,
  'etc/group': `root:x:0:\ndarkroom:x:${user}:\n`,
  'etc/nsswitch.conf': 'hosts: files dns\n',
};

const node = ['/usr/local/bin/node', '--max-semi-space-size=8'];
const runtime = {
  User: `${user}:${user}`,
  Env: ['PATH=/usr/local/bin', 'NODE_ENV=production'],
  WorkingDir: '/data',
  Volumes: { '/data': {} },
  ExposedPorts: { '8787/tcp': {} },
  Entrypoint: [...node, '/opt/darkroom/darkroom.js'],
  // The service asks for --public-url, the address of its clients.
  Cmd: ['serve', '--data', '/data', '--listen', '0.0.0.0:8787'],
  StopSignal: 'SIGTERM',
};

interface Blob {
  readonly digest: string;
  readonly size: number;
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * Writes a tar file with the layout, and returns the digest of the image. The same files give the same bytes.
 */
export function makeImage(packageFolder: string, version: string, file: string): string {
  const work = mkdtempSync(join(tmpdir(), 'darkroom-image-'));
  try {
    const layout = join(work, 'layout');
    mkdirSync(join(layout, 'blobs/sha256'), { recursive: true });
    const blob = (bytes: Buffer): Blob => {
      const hash = digestOf(bytes);
      writeFileSync(join(layout, 'blobs/sha256', hash), bytes);
      return { digest: `sha256:${hash}`, size: bytes.length };
    };
    const json = (value: object): Blob => blob(Buffer.from(JSON.stringify(value)));
    const folders = [
      base(join(work, 'base')),
      app(join(work, 'app'), packageFolder),
      written(join(work, 'own')),
    ];
    const layers = folders.map((one) => {
      const tar = tarOf(one);
      const type = 'application/vnd.oci.image.layer.v1.tar+gzip';
      return { plain: `sha256:${digestOf(tar)}`, layer: { mediaType: type, ...blob(gzipSync(tar)) } };
    });
    const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
    const labels = {
      'org.opencontainers.image.title': 'darkroom',
      'org.opencontainers.image.version': version,
    };
    const config = json({
      ...{ created: new Date(0).toISOString(), architecture, os: 'linux' },
      config: { ...runtime, Labels: labels },
      rootfs: { type: 'layers', diff_ids: layers.map(({ plain }) => plain) },
    });
    const manifestType = 'application/vnd.oci.image.manifest.v1+json';
    const manifest = json({
      ...{ schemaVersion: 2, mediaType: manifestType },
      config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
      layers: layers.map(({ layer }) => layer),
    });
    const named = {
      ...{ mediaType: manifestType, ...manifest, platform: { architecture, os: 'linux' } },
      annotations: { 'org.opencontainers.image.ref.name': version },
    };
    writeFileSync(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
    writeFileSync(join(layout, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [named] }));
    writeFileSync(file, tarOf({ folder: layout, owner: 0, modes: readable }));
    return manifest.digest;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** A layer: the members of a folder, and who owns them. */
interface Layer {
  readonly folder: string;
  readonly owner: number;
  /** Absent: as the files have them. */
  readonly modes?: string;
}

/** Everybody may read the files, and only root may write them. The umask of the builder changes nothing. */
const readable = 'u=rwX,go=rX';

/** This Node, and the libraries of this machine that it is linked with. */
function base(folder: string): Layer {
  const put = (from: string, to: string): void => {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    copyFileSync(realpathSync(from), join(folder, to));
    chmodSync(join(folder, to), 0o755);
  };
  put(process.execPath, 'usr/local/bin/node');
  const linked = execFileSync('ldd', [realpathSync(process.execPath)], { encoding: 'utf8' });
  for (const [, path = ''] of linked.matchAll(/(\/\S+) \(0x/g)) put(path, path);
  for (const name of ['etc', 'proc', 'dev', 'sys']) mkdirSync(join(folder, name));
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  return { folder, owner: 0, modes: readable };
}

function app(folder: string, packageFolder: string): Layer {
  cpSync(packageFolder, join(folder, 'opt/darkroom'), { recursive: true });
  return { folder, owner: 0, modes: readable };
}

/** The folders in which the user of the image writes. */
function written(folder: string): Layer {
  for (const [name, mode] of [
    ['data', 0o700],
    ['tmp', 0o1777],
  ] as const) {
    mkdirSync(join(folder, name), { recursive: true });
    chmodSync(join(folder, name), mode);
  }
  return { folder, owner: user };
}

function tarOf({ folder, owner, modes }: Layer): Buffer {
  const same = ['--format=gnu', '--sort=name', '--mtime=@0', '--numeric-owner'];
  const owned = [`--owner=${owner}`, `--group=${owner}`, ...(modes === undefined ? [] : [`--mode=${modes}`])];
  // A layer that named the root folder would change its owner.
  const args = ['-C', folder, ...same, ...owned, '-cf', '-', '--', ...readdirSync(folder).sort()];
  return execFileSync('tar', args, { maxBuffer: 1e9 });
}
