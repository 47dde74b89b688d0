/** This process cannot take the folder. The message is one sentence for a person. */
export class FolderRefused extends Error {
  override readonly name = 'FolderRefused';
  /**
   * `FOLDER_IN_USE`: another service holds the folder. `FOLDER_UNUSABLE`: the folder cannot be made, written
   * or locked, or this release cannot read its tables.
   */
  readonly code: 'FOLDER_IN_USE' | 'FOLDER_UNUSABLE';

  constructor(code: FolderRefused['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
