import lock from '../../package-lock.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };

/**
 * What `darkroom deploy` installs: the CDK in the versions with which the repository is tested, as a package-lock.json.
 * The packages bring their own dependencies with them.
 */
export function toolchainLock(): string {
  const tools = Object.entries(lock.packages).flatMap(([path, one]) =>
    /^node_modules\/(aws-cdk|aws-cdk-lib|constructs|@aws-cdk\/[^/]+)(\/|$)/.test(path)
      ? [[path, { ...one, dev: undefined }] as const]
      : [],
  );
  const versions = Object.entries(lock.packages).flatMap(([path, one]) => {
    const name = path.slice('node_modules/'.length);
    return ['aws-cdk', 'aws-cdk-lib', 'constructs'].includes(name) && 'version' in one
      ? [[name, one.version] as const]
      : [];
  });
  const own = { name: 'darkroom-toolchain', version: manifest.version };
  const packages = {
    '': { ...own, dependencies: Object.fromEntries(versions) },
    ...Object.fromEntries(tools),
  };
  return `${JSON.stringify({ ...own, lockfileVersion: 3, requires: true, packages }, null, 1)}\n`;
}
