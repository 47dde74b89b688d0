/** Opens codecs, which are WebAssembly. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';

/** Compiles the code once. @param file as a module of Node names it */
export function compiledOnce(file: string): () => Promise<WebAssembly.Module> {
  let compiled: Promise<WebAssembly.Module> | undefined;
  return () => (compiled ??= WebAssembly.compile(readFileSync(pathOf(file))));
}

/** In a bundle, the file lies beside (lib/bundling/bundle.ts). */
function pathOf(file: string): URL | string {
  const beside = new URL(basename(file), import.meta.url);
  return existsSync(beside) ? beside : createRequire(import.meta.url).resolve(file);
}

/**
 * Returns the codecs of a package @jsquash, each with a memory of its own (emscripten.org, "Module object").
 */
export function codecsOf<Codec>(
  create: (options: object) => Promise<Codec>,
  file: string,
): () => Promise<Codec> {
  const codeOf = compiledOnce(file);
  return async () => {
    const code = await codeOf();
    const instantiateWasm = (imports: object, receive: (instance: WebAssembly.Instance) => void): object => {
      const instance = new WebAssembly.Instance(code, imports);
      receive(instance);
      return instance.exports;
    };
    return create({ noInitialRun: true, instantiateWasm });
  };
}
