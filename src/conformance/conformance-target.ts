import type { ServiceRequirements } from './requirements.ts';
import type { DoctorPoint } from '../domain/doctor-point.ts';
import type { JsonObject, JsonValue } from '../domain/json.ts';
import type { Words } from '../service-words.ts';

/** The content of a version of the throwaway prompt, exactly as the service returned it. */
export type SampleContent = { readonly text: string; readonly metadata: JsonValue };

/** A version of the throwaway prompt, exactly as the service returned it. */
export type SampleVersion = SampleContent & { readonly id: string; readonly number: number };

/** The response to a create request. `content` is null if the response does not show what the service has stored. */
export type NewSample = Pick<SampleVersion, 'id' | 'number'> & { readonly content: SampleContent | null };

/** The requests of the check to one service, all about the same prompt. A failed request throws a `ServiceError`. */
export type ConformanceTarget = {
  readonly requirements: ServiceRequirements;
  readonly words: Words;
  /** Creates a version without activating it. Sends the request only once. */
  readonly createVersion: (text: string, metadata: JsonObject) => Promise<NewSample>;
  /** Reads a version that is not necessarily active. Null if the service cannot return such versions. */
  readonly readVersion: ((versionId: string) => Promise<SampleContent | null>) | null;
  /** Activates a version in `DOCTOR_ENVIRONMENT`. */
  readonly activate: (versionId: string) => Promise<void>;
  /** Returns the active version of an environment, or null if none is active. Can throw if the service answers 404. */
  readonly readActive: (environment: string) => Promise<SampleVersion | null>;
  /** Returns the id of the newest version as the service reports it. */
  readonly readNewestId: () => Promise<string | null>;
  /** Requests that the service must refuse. */
  readonly useUnknownVersion: () => Promise<unknown>;
  readonly readUnknownPrompt: () => Promise<unknown>;
  readonly readWithWrongKey: () => Promise<unknown>;
  /** Finds a version of a different prompt. The property is null for a service whose versions have no ids. */
  readonly findOtherVersionId: (() => Promise<string | null>) | null;
  /** Removes what the check created, as far as possible. Returns a point that lists what remains. Never throws. */
  readonly cleanUp: (remains: CheckRemains) => Promise<DoctorPoint>;
};

/** What the check has changed in the service. */
export type CheckRemains = {
  /** The versions that the check has created, or may have created. */
  readonly versions: readonly CreatedSample[];
  /** Whether the check has activated a version in `DOCTOR_ENVIRONMENT`. It is uncertain after a lost response. */
  readonly environment: 'unchanged' | 'uncertain' | 'changed';
};

/** If the response was lost, the number is null, and the id is that of the newest version, or null if none appeared. */
export type CreatedSample = { readonly id: string | null; readonly number: number | null };
