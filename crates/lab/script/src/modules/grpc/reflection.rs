//! Definitions that a server gives of itself (gRPC's `reflection.md`), in version 1 or its predecessor.

use std::collections::{BTreeMap, VecDeque};

use plimsoll_clients::grpc::{Call, Channel, Head, Metadata, Status};
use plimsoll_grpc::Code;
use prost::Message as _;
use prost_types::FileDescriptorProto;

use crate::protobuf::{Definitions, Reflection, ReflectionAnswer};

const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// The most files that a server may describe.
const MAX_FILES: usize = 10_000;

/// A conversation about the server's definitions.
struct Asking(Call);

/// Loads the definitions of all services of a server.
///
/// # Errors
/// For people: the server does not describe itself, or not fully.
pub(super) async fn reflect(channel: &Channel, metadata: &Metadata) -> Result<Definitions, String> {
    let listed = |status: &Status| format!("can't list services: {status}");
    let mut asking = Asking::begin(channel, metadata, PATHS[0])
        .await
        .map_err(|status| listed(&status))?;
    let mut services = asking.services().await;
    if services
        .as_ref()
        .is_err_and(|status| status.code == Code::Unimplemented)
    {
        asking = Asking::begin(channel, metadata, PATHS[1])
            .await
            .map_err(|status| listed(&status))?;
        services = asking.services().await;
    }
    let mut files = BTreeMap::new();
    for service in services.map_err(|status| listed(&status))? {
        let found = asking.files(of_symbol(&service)).await;
        let found = found.map_err(|status| format!("can't get method on service {service:?}: {status}"))?;
        asking.add(found, &mut files).await?;
    }
    let files = files.into_values().collect();
    Definitions::of_files(files).map_err(|error| format!("can't convert method info: {error}"))
}

impl Asking {
    async fn begin(channel: &Channel, metadata: &Metadata, path: &str) -> Result<Self, Status> {
        let head = Head {
            path: path.to_owned(),
            metadata: metadata.clone(),
            timeout: None,
        };
        channel.start(&head).await.map(Self)
    }

    async fn ask(&mut self, question: Reflection) -> Result<ReflectionAnswer, Status> {
        self.0.sender.send(&question.encode_to_vec()).await?;
        let answer = self.0.receiver.next().await?;
        let answer = answer.ok_or_else(|| Status::new(Code::Internal, "the server gave no answer"))?;
        let answer = ReflectionAnswer::decode(answer);
        let answer = answer.map_err(|error| Status::new(Code::Internal, error.to_string()))?;
        match answer.error {
            Some(error) => Err(Status::new(
                Code::parse(error.error_code.to_string().as_bytes()),
                error.error_message,
            )),
            None => Ok(answer),
        }
    }

    async fn services(&mut self) -> Result<Vec<String>, Status> {
        let question = Reflection {
            list_services: Some(String::new()),
            ..Reflection::default()
        };
        let services = self.ask(question).await?.services.unwrap_or_default().service;
        Ok(services.into_iter().map(|service| service.name).collect())
    }

    async fn files(&mut self, question: Reflection) -> Result<Vec<FileDescriptorProto>, Status> {
        let files = self
            .ask(question)
            .await?
            .files
            .unwrap_or_default()
            .file_descriptor_proto;
        let files = files
            .iter()
            .map(|file| FileDescriptorProto::decode(file.as_slice()));
        files
            .collect::<Result<_, _>>()
            .map_err(|error| Status::new(Code::Internal, error.to_string()))
    }

    /// Adds files with all that they import.
    async fn add(
        &mut self,
        found: Vec<FileDescriptorProto>,
        files: &mut BTreeMap<String, FileDescriptorProto>,
    ) -> Result<(), String> {
        let mut missing = VecDeque::new();
        let mut take = |found: Vec<FileDescriptorProto>, missing: &mut VecDeque<String>| {
            for file in found {
                missing.extend(file.dependency.iter().cloned());
                files.entry(file.name().to_owned()).or_insert(file);
            }
            files.keys().cloned().collect::<std::collections::BTreeSet<_>>()
        };
        let mut known = take(found, &mut missing);
        while let Some(name) = missing.pop_front() {
            if known.contains(&name) {
                continue;
            }
            if known.len() >= MAX_FILES {
                return Err(format!("the server describes more than {MAX_FILES} files"));
            }
            // A file that the server does not have is missed when the definitions are put together.
            let question = Reflection {
                file_by_filename: Some(name.clone()),
                ..Reflection::default()
            };
            match self.files(question).await {
                Ok(found) => known = take(found, &mut missing),
                Err(_) => drop(known.insert(name)),
            }
        }
        Ok(())
    }
}

fn of_symbol(name: &str) -> Reflection {
    Reflection {
        file_containing_symbol: Some(name.to_owned()),
        ..Reflection::default()
    }
}
