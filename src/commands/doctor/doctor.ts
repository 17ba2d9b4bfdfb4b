import {
  NO_WORKSPACE,
  openWorkspace,
  type Workspace,
  type WorkspaceOptions,
} from '../../desired-state/open-workspace.ts';
import { type DoctorPoint, type DoctorSection, isErrorPoint, makeProblemPoint } from '../../domain/doctor-point.ts';
import type { System } from '../../domain/system.ts';
import { getProviderWords } from '../../workspace/service-settings.ts';
import { DEFAULT_WORDS, type Words } from '../../service-words.ts';
import { makeProblem, ProblemError, toProblem, wordProblem } from '../../problem.ts';
import { examineCiJob } from './examine-ci-job.ts';
import { examineConformance, type ConformanceOptions } from './examine-conformance.ts';
import { examineMachine, type MachineExamination, type NodeVersions } from './examine-machine.ts';
import { examineService } from './examine-service.ts';
import { examineWorkspace } from './examine-workspace.ts';
import type { ServiceOptions } from '../../run/open-service.ts';

export type DoctorOptions = Pick<WorkspaceOptions, 'config'> &
  Pick<ServiceOptions, 'onCall'> &
  NodeVersions &
  ConformanceOptions & {
    /** Whether to also check how the service behaves. This check writes to the service. */
    readonly write: boolean;
  };

export type DoctorResult = {
  readonly sections: readonly DoctorSection[];
  /** 0 if no point is an error, 130 if the run was interrupted, and otherwise 1. */
  readonly exitCode: number;
  /** The absolute path of the folder that contains the configuration. Null if there is no configuration. */
  readonly folder: string | null;
};

/** A failure in one section does not hide the others. Sends only GET requests, unless `write` is true. */
export async function examineSetup(options: DoctorOptions, system: System): Promise<DoctorResult> {
  if (options.prompt !== undefined && !options.write) {
    throw new ProblemError(makeProblem('usage/invalid', { reason: '`--prompt` requires `--write`.' }));
  }
  const workspace = await openWorkspace({ config: options.config, only: [] }, system).catch(makeBrokenWorkspace);
  const machine = await examineMachine(options, workspace, system).catch(makeBrokenExamination);
  const configuration = examineWorkspace(workspace, system);
  const service = await examineService(workspace, options, system).catch(
    makeBrokenPoints('address', getProviderWords(workspace.config)),
  );
  const ciSections = await examineCiJob(machine.head, system).catch(makeBrokenCiSections);
  const sections: readonly DoctorSection[] = [
    { title: 'Machine and repository', points: machine.points },
    { title: 'Configuration and prompt files', points: configuration },
    { title: 'Service', points: service },
    ...ciSections,
  ];
  const mayWrite = ![...configuration, ...service].some(isErrorPoint);
  const conformance = options.write ? await examineConformance(mayWrite, options, workspace, system) : [];
  return makeDoctorResult([...sections, ...conformance], workspace, system);
}

function makeDoctorResult(
  sections: readonly DoctorSection[],
  { config }: Workspace,
  { stopSignal }: System,
): DoctorResult {
  const hasErrors = sections.some(({ points }) => points.some(isErrorPoint));
  const exitCode = hasErrors ? 1 : 0;
  return {
    sections,
    exitCode: stopSignal.aborted ? 130 : exitCode,
    folder: config?.folder ?? null,
  };
}

function makeBrokenWorkspace(error: unknown): Workspace {
  return { ...NO_WORKSPACE, problems: [toProblem(error)] };
}

function makeBrokenExamination(error: unknown): MachineExamination {
  return { points: makeBrokenPoints('repository', DEFAULT_WORDS)(error), head: null };
}

function makeBrokenCiSections(error: unknown): readonly DoctorSection[] {
  return [{ title: 'CI job', points: makeBrokenPoints('event', DEFAULT_WORDS)(error) }];
}

/** Replaces all points of a section with a single one that shows an unexpected error. */
function makeBrokenPoints(name: string, words: Words): (error: unknown) => readonly DoctorPoint[] {
  return (error) => [makeProblemPoint(name, wordProblem(toProblem(error), words))];
}
