//! The environment variables that say where a process runs.

/// The environment variable that container engines set.
pub(super) const CONTAINER: &str = "container";

/// A system that starts containers on many machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orchestrator {
    variable: &'static str,
    pub(super) name: &'static str,
    /// The orchestrator's word for the thing that it starts, such as `pod`.
    pub(super) unit: &'static str,
}

const fn orchestrator(variable: &'static str, name: &'static str, unit: &'static str) -> Orchestrator {
    Orchestrator { variable, name, unit }
}

/// Swarm has no variable; the root of its tasks is layered.
const ORCHESTRATORS: [Orchestrator; 6] = [
    orchestrator("KUBERNETES_SERVICE_HOST", "Kubernetes", "pod"),
    orchestrator("ECS_CONTAINER_METADATA_URI_V4", "ECS", "task"),
    orchestrator("ECS_CONTAINER_METADATA_URI", "ECS", "task"),
    orchestrator("K_SERVICE", "Cloud Run", "instance"),
    orchestrator("CLOUD_RUN_JOB", "Cloud Run", "instance"),
    orchestrator("NOMAD_ALLOC_ID", "Nomad", "task"),
];

/// The variables of dev containers and of CI.
pub(super) const ONE_PERSON: [&str; 5] =
    ["CODESPACES", "REMOTE_CONTAINERS", "DEVCONTAINER", "GITPOD_WORKSPACE_ID", "CI"];

/// The facts about the place of a process that its environment variables show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    pub(super) orchestrator: Option<Orchestrator>,
    /// The variable of a dev container or of CI.
    pub(super) one_person: Option<&'static str>,
    /// Whether the variable of container engines is set.
    pub(super) container: bool,
}

impl Variables {
    /// The names of the variables. A host says of each whether it is set and not empty.
    pub const NAMES: [&'static str; ORCHESTRATORS.len() + ONE_PERSON.len() + 1] = Self::names();

    const fn names() -> [&'static str; ORCHESTRATORS.len() + ONE_PERSON.len() + 1] {
        let mut names = [CONTAINER; ORCHESTRATORS.len() + ONE_PERSON.len() + 1];
        let mut place = 0;
        while place < ORCHESTRATORS.len() {
            names[place] = ORCHESTRATORS[place].variable;
            place += 1;
        }
        while place < ORCHESTRATORS.len() + ONE_PERSON.len() {
            names[place] = ONE_PERSON[place - ORCHESTRATORS.len()];
            place += 1;
        }
        names
    }

    /// Reads the variables. `is_set` says whether a variable is set and not empty.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::place::{Facts, Variables, Verdict};
    /// let variables = Variables::read(|name| name == "KUBERNETES_SERVICE_HOST");
    /// let facts = Facts { path: "/var/lib/ids", variables, ..Facts::default() };
    /// let Verdict::Refused(doubt) = facts.default_place() else { panic!("a pod") };
    /// assert_eq!(doubt.to_string(), "in Kubernetes /var/lib/ids is private to each pod");
    /// ```
    pub fn read(mut is_set: impl FnMut(&str) -> bool) -> Self {
        Self {
            orchestrator: ORCHESTRATORS.into_iter().find(|each| is_set(each.variable)),
            one_person: ONE_PERSON.into_iter().find(|name| is_set(name)),
            container: is_set(CONTAINER),
        }
    }
}
