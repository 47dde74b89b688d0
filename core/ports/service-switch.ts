/** The operator's switch: a closed service accepts no new creation (decision 3). */

export interface ClosedService {
  /** The message for clients. */
  readonly message: string;
  /** When the service was closed. */
  readonly since: string;
}

export interface ServiceStanding {
  /** Absent: the service is open. */
  readonly closed?: ClosedService;
  /** Open creations of the whole service, as an estimate. */
  readonly openCreations: number;
}

/** Every method throws Overloaded when the table stayed busy. */
export interface ServiceSwitch {
  read(): Promise<ServiceStanding>;
  /** Every request that the API reads from then on is refused before a charge. */
  close(closed: ClosedService): Promise<void>;
  open(): Promise<void>;
}
